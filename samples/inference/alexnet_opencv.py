"""AlexNet inference with OpenCV 4, as a model of Caffe's on random data: one tower, no groups, 62,378,344 parameters.

A plain script that writes its model in Caffe's two formats, the network's text and the weights (a protobuf message,
encoded here): it does not know traceview, so that what is measured around it is any script's case.
"""

from __future__ import annotations

import argparse
import time

import cv2
import numpy as np

PARAMETERS = 62_378_344
CLASSES = 1000
LAYERS = (
    # name, weight, stride, padding, maximum of 3 x 3 after it
    ("conv1", (96, 3, 11, 11), 4, 0, True),
    ("conv2", (256, 96, 5, 5), 1, 2, True),
    ("conv3", (384, 256, 3, 3), 1, 1, False),
    ("conv4", (384, 384, 3, 3), 1, 1, False),
    ("conv5", (256, 384, 3, 3), 1, 1, True),
    ("fc6", (4096, 9216), 0, 0, False),
    ("fc7", (4096, 4096), 0, 0, False),
    ("fc8", (CLASSES, 4096), 0, 0, False),
)


def prototxt(batch: int) -> bytes:
    """The network as Caffe's text."""
    text = f'name: "alexnet"\ninput: "data"\ninput_shape {{ dim: {batch} dim: 3 dim: 227 dim: 227 }}\n'
    bottom = "data"
    for name, shape, stride, padding, is_pooled in LAYERS:
        facts = f"num_output: {shape[0]}"
        if stride:
            facts = f"convolution_param {{ {facts} kernel_size: {shape[2]} stride: {stride} pad: {padding} }}"
            text += layer(name, "Convolution", bottom, name, facts)
        else:
            text += layer(name, "InnerProduct", bottom, name, f"inner_product_param {{ {facts} }}")
        bottom = name
        if name != "fc8":
            text += layer(f"relu{name[-1]}", "ReLU", name, name, "")
        if is_pooled:
            bottom = f"pool{name[-1]}"
            text += layer(bottom, "Pooling", name, bottom, "pooling_param { pool: MAX kernel_size: 3 stride: 2 }")
    return text.encode()


def layer(name: str, kind: str, bottom: str, top: str, facts: str) -> str:
    """One layer of the text."""
    return f'layer {{ name: "{name}" type: "{kind}" bottom: "{bottom}" top: "{top}" {facts} }}\n'


def caffemodel() -> bytes:
    """The weights: a NetParameter of caffe.proto with a layer (100) for each that has some."""
    generator = np.random.default_rng(0)
    message = b""
    for name, shape, stride, _, _ in LAYERS:
        weights = (0.01 * generator.standard_normal(shape, np.float32), np.zeros(shape[0], np.float32))
        kind = "Convolution" if stride else "InnerProduct"
        body = field(1, name.encode()) + field(2, kind.encode()) + b"".join(field(7, blob(each)) for each in weights)
        message += field(100, body)
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


def main() -> None:
    """Run the network for some steps and print the time of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=1, help="images per step (default 1)")
    parser.add_argument("--steps", type=int, default=20, help="runs (default 20)")
    parser.add_argument("--threads", type=int, help="CPU threads; default: OpenCV's own choice")
    parser.add_argument("--unfused", action="store_true", help="leave ReLUs as layers of their own")
    args = parser.parse_args()
    if args.threads:
        cv2.setNumThreads(args.threads)
    # As arrays: OpenCV takes bytes for names of files.
    net = cv2.dnn.readNetFromCaffe(*(np.frombuffer(each, np.uint8) for each in (prototxt(args.batch), caffemodel())))
    net.enableFusion(not args.unfused)
    weights = [each for name in net.getLayerNames() for each in net.getLayer(net.getLayerId(name)).blobs]
    count = sum(each.size for each in weights)
    assert count == PARAMETERS, count
    images = np.random.default_rng(0).standard_normal((args.batch, 3, 227, 227), np.float32)
    print(f"alexnet: {count} parameters, batch {args.batch}, cpu, nchw, {'plain' if args.unfused else 'fused'}")
    for step in range(1, args.steps + 1):
        net.setInput(images)
        start = time.perf_counter()
        scores = net.forward()
        if step % 10 == 0 or step == args.steps:
            print(f"step {step}: {scores.shape}, {1e3 * (time.perf_counter() - start):.1f} ms", flush=True)


if __name__ == "__main__":
    main()
