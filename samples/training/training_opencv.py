"""Code that the OpenCV 4 samples share: a model of Caffe's made of a list of layers, and a loop of runs.

The model is written in Caffe's two formats: the network's text, and the weights (a protobuf message, encoded here).
"""

from __future__ import annotations

from string import ascii_letters

import cv2
import numpy as np
import timing

CAFFE = {"relu": "ReLU", "tanh": "TanH"}


def prototxt(model: timing.Model, layers: timing.Layers, batch: int) -> bytes:
    """The network as Caffe's text."""
    dims = " ".join(f"dim: {each}" for each in (batch, *model.shape))
    text = f'name: "{model.name}"\ninput: "data"\ninput_shape {{ {dims} }}\n'
    bottom = "data"
    for each in layers:
        facts = f"num_output: {each.shape[0]}"
        if each.stride:
            facts += f" kernel_size: {each.shape[2]} stride: {each.stride} pad: {each.padding}"
            text += layer(each.name, "Convolution", bottom, each.name, f"convolution_param {{ {facts} }}")
        else:
            text += layer(each.name, "InnerProduct", bottom, each.name, f"inner_product_param {{ {facts} }}")
        bottom, number = each.name, each.name.lstrip(ascii_letters)
        for step in each.after:
            if step == "pool":
                pooling = f"pooling_param {{ pool: MAX kernel_size: {each.pool} stride: 2 }}"
                text += layer(f"pool{number}", "Pooling", bottom, f"pool{number}", pooling)
                bottom = f"pool{number}"
            else:
                text += layer(f"{step}{number}", CAFFE[step], bottom, bottom, "")
    return text.encode()


def layer(name: str, kind: str, bottom: str, top: str, facts: str) -> str:
    """One layer of the text."""
    return f'layer {{ name: "{name}" type: "{kind}" bottom: "{bottom}" top: "{top}" {facts} }}\n'


def caffemodel(layers: timing.Layers) -> bytes:
    """The weights: a NetParameter of caffe.proto with a layer (100) for each that has some."""
    generator = np.random.default_rng(0)
    message = b""
    for each in layers:
        weights = (each.weight(generator), np.zeros(each.shape[0], np.float32))
        kind = "Convolution" if each.stride else "InnerProduct"
        blobs = b"".join(field(7, blob(weight)) for weight in weights)
        message += field(100, field(1, each.name.encode()) + field(2, kind.encode()) + blobs)
    return message


def blob(array: np.ndarray) -> bytes:
    """A BlobProto: its numbers (5) and its shape (7)."""
    return field(5, array.astype("<f4").tobytes()) + field(7, field(1, b"".join(map(varint, array.shape))))


def field(number: int, content: bytes) -> bytes:
    """A field of a protobuf message that has a length."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint(number: int) -> bytes:
    """A whole number, seven bits to a byte."""
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


def run(doc: str | None, model: timing.Model, layers: timing.Layers) -> None:
    """Run it a few times."""
    parser = timing.options(doc, model._replace(batch=1, steps=20), modes=("forward",))
    parser.add_argument("--unfused", action="store_true", help="leave ReLUs as layers of their own")
    args = parser.parse_args()
    timing.forward_alone("OpenCV", args)
    if args.device == "cuda":
        timing.refuse("this OpenCV has no CUDA")
    if args.threads:
        cv2.setNumThreads(args.threads)
    # As arrays: OpenCV takes bytes for names of files.
    files = (np.frombuffer(each, np.uint8) for each in (prototxt(model, layers, args.batch), caffemodel(layers)))
    net = cv2.dnn.readNetFromCaffe(*files)
    net.enableFusion(not args.unfused)
    weights = [each for name in net.getLayerNames() for each in net.getLayer(net.getLayerId(name)).blobs]
    images, _ = timing.batch_of(model, args.batch)

    def step() -> float:
        net.setInput(images)
        return net.forward()[0, 0]

    timing.measure(
        model, args, step, lambda: None,
        framework="opencv", version=cv2.__version__, device="cpu", threads=cv2.getNumThreads(),
        parameters=sum(each.size for each in weights),
    )  # fmt: skip
