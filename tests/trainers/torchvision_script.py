"""The loop of torchvision's classification reference: its model, transforms and an evaluation at the end."""

import own_timer
import torch
import torchvision
from torch.utils.data import DataLoader
from torchvision.transforms import v2

transform = v2.Compose(
    [
        v2.ToImage(), v2.RandomResizedCrop(64), v2.RandomHorizontalFlip(), v2.ToDtype(torch.float32, scale=True),
        v2.Normalize([0.5] * 3, [0.5] * 3),
    ]
)  # fmt: skip
loader = DataLoader(torchvision.datasets.FakeData(48, (3, 80, 80), 10, transform), batch_size=4, num_workers=2)
model = torchvision.models.mobilenet_v3_small(num_classes=10)
optimizer = torch.optim.RMSprop(model.parameters(), lr=0.01, momentum=0.9)
criterion = torch.nn.CrossEntropyLoss(label_smoothing=0.1)
model.train()
for image, target in loader:
    loss = criterion(model(image), target)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    own_timer.timed(optimizer.step)
    loss.item()
model.eval()
with torch.inference_mode():
    for image, _ in loader:
        model(image)
own_timer.say(len(own_timer.ends))
