"""The loop of timm's `train.py`: its model, optimizer, schedule, scaler, average of weights and smoothed loss."""

import own_timer
import timm
import timm.loss
import timm.optim
import timm.scheduler
import timm.utils
import torch

model = timm.create_model("resnet10t", num_classes=10, drop_rate=0.1)
optimizer = timm.optim.create_optimizer_v2(model, opt="adamw", lr=1e-3, weight_decay=0.05)
schedule, epochs = timm.scheduler.create_scheduler_v2(
    optimizer, sched="cosine", num_epochs=2, warmup_epochs=1, updates_per_epoch=6
)
average = timm.utils.ModelEmaV3(model, decay=0.99)
criterion = timm.loss.LabelSmoothingCrossEntropy(0.1)
scaler = timm.utils.NativeScaler(device="cpu")
updates = 0
for epoch in range(2):
    model.train()
    meter = timm.utils.AverageMeter()
    for _ in range(6):
        x, y = torch.randn(4, 3, 64, 64), torch.randint(0, 10, (4,))
        with torch.autocast("cpu", torch.bfloat16):
            loss = criterion(model(x), y)
        own_timer.timed(scaler, loss, optimizer, clip_grad=1.0, parameters=timm.models.model_parameters(model))
        optimizer.zero_grad()
        updates += 1
        average.update(model, step=updates)
        meter.update(loss.item(), len(x))
        schedule.step_update(num_updates=updates)
    average.eval()
    with torch.inference_mode():
        for _ in range(2):
            timm.utils.accuracy(average(torch.randn(4, 3, 64, 64)), torch.randint(0, 10, (4,)), topk=(1, 5))
    schedule.step(epoch + 1)
own_timer.say(updates)
