"""Two optimizers with closures, as Lightning's page on manual optimization has them."""

import lightning
import own_timer
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class GAN(lightning.LightningModule):
    """Generator and discriminator take turns."""

    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.G = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 32))
        self.D = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 1))

    def training_step(self, batch, batch_idx):
        g_opt, d_opt = self.optimizers()
        (real,) = batch
        z = torch.randn(len(real), 16)

        def d_closure():
            loss = (self.D(self.G(z).detach()) - self.D(real)).mean()
            d_opt.zero_grad()
            self.manual_backward(loss)
            return loss

        def g_closure():
            loss = -self.D(self.G(z)).mean()
            g_opt.zero_grad()
            self.manual_backward(loss)
            return loss

        def updated():
            d_opt.step(closure=d_closure)
            g_opt.step(closure=g_closure)

        own_timer.timed(updated)

    def configure_optimizers(self):
        return torch.optim.Adam(self.G.parameters(), 1e-3), torch.optim.Adam(self.D.parameters(), 1e-3)


trainer = lightning.Trainer(
    max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
    enable_model_summary=False,
)  # fmt: skip
trainer.fit(GAN(), DataLoader(TensorDataset(torch.randn(48, 32)), batch_size=8))
own_timer.say(trainer.global_step // 2)
