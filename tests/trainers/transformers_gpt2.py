"""`transformers.Trainer`: a tiny GPT-2 with accumulation, evaluation, checkpoints, bf16, workers and a schedule."""

import tempfile

import own_timer
import torch
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    Trainer,
    TrainerCallback,
    TrainingArguments,
    default_data_collator,
)


class Data(torch.utils.data.Dataset):
    """Random tokens."""

    def __len__(self):
        return 48

    def __getitem__(self, i):
        tokens = torch.randint(0, 200, (32,))
        return {"input_ids": tokens, "labels": tokens}


class Timer(TrainerCallback):
    """Notes when an update began and had ended."""

    def on_pre_optimizer_step(self, *args, **kwargs):
        own_timer.ends.append([own_timer.time.time_ns(), 0])

    def on_step_end(self, *args, **kwargs):
        own_timer.ends[-1][1] = own_timer.time.time_ns()


with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(
        folder, per_device_train_batch_size=4, gradient_accumulation_steps=3, max_steps=12, report_to=[], use_cpu=True,
        save_strategy="steps", save_steps=5, eval_strategy="steps", eval_steps=4, disable_tqdm=True, logging_steps=4,
        bf16=True, dataloader_num_workers=2, max_grad_norm=1.0, gradient_checkpointing=True, warmup_steps=2,
        lr_scheduler_type="cosine",
    )  # fmt: skip
    model = GPT2LMHeadModel(GPT2Config(n_embd=64, n_layer=2, n_head=2, vocab_size=200, n_positions=64))
    trainer = Trainer(
        model=model, args=arguments, train_dataset=Data(), eval_dataset=Data(), data_collator=default_data_collator,
        callbacks=[Timer()],
    )  # fmt: skip
    done = trainer.train()
own_timer.say(done.global_step)
