"""Layer names: from the outermost module, without wrappers, distinct between models."""

from __future__ import annotations

import json

import pytest

torch = pytest.importorskip("torch")


@pytest.fixture
def names():
    from traceview_inject.torch_model import Names

    return Names()


def net():
    return torch.nn.Sequential(torch.nn.Conv2d(1, 1, 1), torch.nn.Sequential(torch.nn.ReLU()))


def test_leaves_are_named_by_their_path(names):
    model = net()
    assert names.learn(model) and not names.learn(model)
    assert names.label(model[0]) == "traceview.module: 0 (Conv2d)"
    assert names.label(model[1][0]) == "traceview.module: 1.0 (ReLU)"
    assert names.label(model[1]) == "traceview.module: 1 (Sequential)"
    assert names.label(model) == "traceview.module: Sequential (Sequential)"


@pytest.mark.slow
def test_wrappers_are_no_part_of_a_name(names):
    compiled = torch.compile(net(), backend="eager")
    names.learn(torch.nn.DataParallel(compiled))
    assert names.label(compiled._orig_mod[0]) == "traceview.module: 0 (Conv2d)"
    assert names.label(compiled) is None


def test_a_second_model_is_told_apart(names):
    models = [net(), net(), net()]
    for model in models:
        names.learn(model)
    labels = [names.label(model[0]) for model in models]
    assert labels == [f"traceview.module: {name} (Conv2d)" for name in ("0", "Sequential#2.0", "Sequential#3.0")]


def test_a_part_called_by_itself_keeps_its_name(names):
    model = net()
    names.learn(model)
    names.learn(model[1])
    assert names.label(model[1][0]) == "traceview.module: 1.0 (ReLU)"


def test_leaves_made_later_are_named_too(names):
    model = net()
    names.learn(model)
    model.add_module("late", torch.nn.Tanh())
    names.learn_again()
    assert names.label(model.late) == "traceview.module: late (Tanh)"
    assert names.label(torch.nn.Softmax()) == "traceview.module: Softmax (Softmax)"


def test_attention_is_one_layer(names):
    attention = torch.nn.MultiheadAttention(4, 2)
    names.learn(attention)
    assert names.label(attention) == "traceview.module: MultiheadAttention (MultiheadAttention)"


def test_nothing_is_kept_alive(names):
    model = net()
    names.learn(model)
    known = [entry[0] for entry in (*names.labels.values(), *names.roots.values())]
    assert len(known) == 5 and all(reference() is not None for reference in known)
    del model
    assert all(reference() is None for reference in known)


@pytest.mark.parametrize(
    ("tensor", "name"),
    [
        (torch.zeros(2, 3, 4, 5), "contiguous"),
        (torch.zeros(2, 3, 4, 5).to(memory_format=torch.channels_last), "channels_last"),
        (torch.zeros(2, 3, 4, 5).transpose(0, 3), "strided"),
    ],
)
def test_facts_of_the_model_and_its_input(tensor, name):
    from traceview_inject.torch_model import Facts

    facts = Facts()
    facts.see_model(torch.nn.ReLU())
    facts.see_model(torch.nn.DataParallel(net()))
    facts.see_model(torch.nn.CrossEntropyLoss())
    facts.see_input(["no tensor", [tensor]])
    facts.see_input([torch.zeros(9)])
    model = facts.chosen()[1]
    assert (model["name"], model["parameters"]) == ("Sequential", 2)
    assert (model["batch"], model["input"]["memory_format"]) == (tensor.shape[0], name)


def test_the_input_is_that_of_training_where_a_validation_comes_before():
    from traceview_inject.torch_model import Facts

    model, facts = net().eval(), Facts()
    with torch.no_grad():
        facts.see_model(model)
        facts.see_input([torch.zeros(64, 1, 2, 2)])
    assert facts.chosen()[1]["batch"] == 64  # As in a program that trains nothing.
    with torch.autocast("cpu", torch.bfloat16):
        for batch in (16, 8):
            facts.see_model(torch.nn.DataParallel(model.train()))
            facts.see_input([torch.zeros(batch, 1, 2, 2)])
            facts.see_model(torch.nn.CrossEntropyLoss())
            facts.see_input([torch.zeros(9)])
    told = facts.chosen()[1]
    assert (told["batch"], told["input"]["shape"], told["autocast_dtype"]) == (16, [16, 1, 2, 2], "bfloat16")


def test_the_input_is_that_of_recorded_passes_where_a_trial_with_gradients_comes_before():
    """As of the shape that a model returns; `compare` called runs of two batches runs of batch 1."""
    from traceview_inject.torch_model import Facts

    model, facts = net(), Facts()
    for batch in (1, 32):
        facts.see_model(model)
        facts.see_input([torch.zeros(batch, 1, 2, 2)])
    assert facts.chosen()[1]["batch"] == 1
    facts.see_job()
    # Recording begins with the last batch of an epoch, and a layer is called in each pass.
    for batch in (10, 32, 8):
        facts.see_model(model)
        facts.see_input([torch.zeros(batch, 1, 2, 2)])
        facts.see_input([torch.zeros(64, 3)])
    told = facts.chosen()[1]
    assert (told["batch"], told["input"]["shape"]) == (32, [32, 1, 2, 2])


@pytest.mark.parametrize(
    ("is_first", "shape", "batch"), [(False, (35, 20), 20), (True, (35, 20), 35), (False, (20, 35), 20)]
)
def test_the_batch_of_a_recurrent_layer_is_its_second_axis_unless_it_says_so(is_first, shape, batch):
    """The batch of 20 sequences of 35 words was 35. A model may turn its input before the layer."""
    from traceview_inject.torch_model import Facts

    facts, model, words = Facts(), torch.nn.Embedding(9, 4), torch.zeros(shape, dtype=torch.long)
    layer = torch.nn.LSTM(4, 4, batch_first=is_first)
    facts.see_model(model)
    facts.see_input([words])
    for module, given in ((model, words), (layer, torch.zeros(35, 20, 4))):
        facts.see_recurrent(module, [given])
    told = facts.chosen()[1]
    assert (told["batch"], told["input"]["shape"]) == (batch, [*shape])


@pytest.mark.parametrize("layout", [torch.jagged, torch.strided])
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_an_axis_of_a_nested_tensor_has_no_one_size(layout):
    from traceview_inject.torch_model import Facts

    facts = Facts()
    facts.see_model(net())
    facts.see_input([torch.nested.nested_tensor([torch.zeros(5, 64), torch.zeros(17, 64)], layout=layout)])
    model = facts.chosen()[1]
    assert (model["batch"], json.dumps(model["input"]["shape"])) == (2, '[2, "?", 64]')


@pytest.mark.parametrize(("axis", "shape"), [(0, [8, 1, 4]), (1, [8, 1, 4]), (None, [1, 4, 8])])
def test_under_vmap_the_batch_is_that_of_all_samples(axis, shape):
    """It was noted as 1: gradients of each sample were said to be those of a batch of one."""
    from traceview_inject.torch_model import Facts

    func = pytest.importorskip("torch.func")
    facts = Facts()
    facts.see_model(net())

    def loss(scale, sample):
        facts.see_input([sample.unsqueeze(0)])
        return (scale * sample).sum()

    scale, samples = torch.ones(()), torch.zeros((4, 8) if axis else (8, 4))
    if axis is None:
        func.grad(loss)(scale, torch.zeros(4, 8))
    else:
        func.vmap(func.grad(loss), in_dims=(None, axis))(scale, samples)
    model = facts.chosen()[1]
    assert (model["batch"], model["input"]["shape"]) == (shape[0], shape)


def test_under_vmap_over_models_the_batch_is_that_of_one():
    from traceview_inject.torch_model import Facts

    func = pytest.importorskip("torch.func")
    facts = Facts()
    facts.see_model(net())
    func.vmap(lambda scale, batch: (facts.see_input([batch]), scale * batch)[1])(torch.ones(10), torch.zeros(10, 64, 4))
    model = facts.chosen()[1]
    assert (model["batch"], model["input"]["shape"]) == (64, [64, 4])


def test_a_list_of_images_tells_no_batch():
    from traceview_inject.torch_model import Facts

    facts = Facts()
    facts.see_model(net())
    facts.see_input([[torch.zeros(3, 32, 32), torch.zeros(3, 30, 32)]])
    model = facts.chosen()[1]
    assert (model["batch"], model["input"]["shape"]) == (None, [3, 32, 32])


@pytest.mark.filterwarnings("ignore:Lazy modules")
def test_a_lazy_model_tells_of_itself_once_its_parameters_have_shapes():
    """The recording was given up at the dummy batch that gives them these."""
    from traceview_inject.torch_model import Facts

    facts = Facts()
    model = torch.nn.Sequential(torch.nn.LazyConv2d(4, 3), torch.nn.Flatten(), torch.nn.LazyLinear(2))
    for batch in (2, 8):
        images = torch.zeros(batch, 3, 5, 5)
        facts.see_model(model)
        facts.see_input((images,))
        model(images)
        facts.see_pass(model)
    _, told = facts.chosen()
    # Filters of 3x3x3 with biases; 36 numbers of each image to 2, with biases.
    assert (told["parameters"], told["batch"], told["input"]["shape"]) == (112 + 74, 8, [8, 3, 5, 5])


def test_the_model_is_the_largest_that_an_optimizer_trains():
    from traceview_inject.torch_model import Facts

    teacher, student, head, facts = torch.nn.Linear(9, 9), torch.nn.Linear(9, 4), torch.nn.Linear(4, 2), Facts()
    for model in (teacher, student, head):
        facts.see_model(model)
        facts.see_input([torch.zeros(model.out_features, model.in_features)])
    # The teacher's parameters: nothing trains any.
    assert facts.chosen()[1]["parameters"] == 90 and facts.untrained() is None
    optimizer = torch.optim.SGD([*student.parameters(), *head.parameters()])
    facts.made[optimizer] = None
    facts.optimizers.add(optimizer)
    told = facts.chosen()[1]
    assert (told["parameters"], told["batch"], told["input"]["shape"]) == (40, 4, [4, 9])
    assert [facts.untrained()(model) for model in (teacher, student, head)] == [True, False, False]


@pytest.mark.slow
@pytest.mark.parametrize("is_named", [False, True])
def test_a_sharded_model_has_the_parameters_of_all_ranks(is_named):
    """This rank of four holds a quarter of them, as one tensor for each FSDP module or as parts under their names."""
    sharded = pytest.importorskip("torch.distributed.fsdp")
    fake = pytest.importorskip("torch.testing._internal.distributed.fake_pg")
    from traceview_inject.torch_model import Facts

    facts = Facts()
    torch.distributed.init_process_group("fake", rank=0, world_size=4, store=fake.FakeStore())
    try:
        options = {"device_id": torch.device("cpu"), "use_orig_params": is_named}
        inner = sharded.FullyShardedDataParallel(torch.nn.Conv2d(16, 16, 3), **options)
        model = sharded.FullyShardedDataParallel(torch.nn.Sequential(torch.nn.Conv2d(3, 16, 3), inner), **options)
        facts.see_model(model)
    finally:
        torch.distributed.destroy_process_group()
    assert facts.chosen()[1]["parameters"] == (3 * 9 + 1) * 16 + (16 * 9 + 1) * 16
    assert sum(parameter.numel() for parameter in model.parameters()) < 1000


def test_a_backward_pass_may_be_of_another_model_than_the_one_in_evaluation():
    from traceview_inject.torch_model import Facts

    trained, copied, facts = net(), net().eval(), Facts()
    for model in (copied, copied, trained):
        facts.see_pass(model)
    facts.see_backward()
    facts.see_pass(copied)
    assert facts.collect([], False)["evaluated"] == {"passes": 3, "with_gradients": 0, "maybe_used": 3}


def test_a_loader_trains_whose_batches_a_backward_pass_uses():
    """Training takes a batch of two loaders and asks a teacher; a validation turns gradients off for its pass alone."""
    from traceview_inject.torch_model import Facts

    model, teacher, criterion, facts = net(), net().eval().requires_grad_(False), torch.nn.CrossEntropyLoss(), Facts()
    one, two, validation = (iter(torch.utils.data.DataLoader([0] * 99, batch_size=size)) for size in (2, 3, 9))
    for _ in range(2):
        facts.see_loader(one)
        facts.see_pass(torch.nn.Dropout())  # As a transform of images.
        with torch.no_grad():
            facts.see_pass(teacher)
        facts.see_loader(two)
        facts.see_pass(model)
        facts.see_backward()
        model.eval()
        for _ in range(3):
            facts.see_loader(validation)
            with torch.no_grad():
                facts.see_pass(model)
            facts.see_pass(criterion)
        model.train()
    found = facts.collect([], False)["loaders"]
    assert [(it["batch"], it["trains"], it["batches"]) for it in found] == [(2, True, 2), (3, True, 2), (9, False, 6)]


def test_a_copy_is_timed_where_there_is_room(monkeypatch):
    from traceview_inject import processor, torch_model

    monkeypatch.setattr(torch_model, "COPIED", (1 << 22, 1 << 22))
    room = processor.available_memory()
    assert room is None or room > 1 << 26
    if room:
        # Of the cache's size: between what a disk and what every cache can do.
        assert 1e8 < torch_model.copy_rate() < 1e13
    monkeypatch.setattr(processor, "available_memory", lambda: torch_model.ROOM * (1 << 22) - 1)
    assert torch_model.copy_rate() is None


def test_denormal_numbers_are_counted():
    from traceview_inject.torch_model import denormal

    model = torch.nn.Linear(4, 2)
    with torch.no_grad():
        model.weight.zero_()
        model.weight[0, 0] = 1e-40
        model.bias.fill_(1.0)
    model.weight.grad = torch.full((2, 4), -2e-39)
    found = denormal(model)
    assert {**found, "sqrt_ns": 0, "multiply_ns": 0} == {
        "elements": 18, "denormal": 9, "squares": 0, "sqrt_ns": 0, "multiply_ns": 0,
    }  # fmt: skip
    assert denormal(None) is None


def test_squares_that_an_optimizer_keeps_are_counted_too_and_their_cost_is_measured():
    from traceview_inject.torch_model import denormal

    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.AdamW(model.parameters())
    (1e-19 * model(torch.ones(1, 4)).sum()).backward()
    optimizer.step()  # A thousandth of the square of 1e-19 is denormal.
    found = denormal(model, [optimizer])
    assert (found["elements"], found["denormal"], found["squares"]) == (42, 10, 10)  # With two counts of steps.
    assert 0 <= found["multiply_ns"] < 1000 and 0 <= found["sqrt_ns"] < 1000
    optimizer.param_groups[0]["fused"] = True
    assert (denormal(model, [optimizer])["denormal"], denormal(model, [optimizer])["squares"]) == (10, 0)
    optimizer.param_groups[0]["fused"] = None
    model.weight.grad.fill_(1.0)
    torch.nn.init.ones_(model.bias.grad)
    for _ in range(3):
        optimizer.step()
    assert denormal(model, [optimizer]) == {"elements": 42, "denormal": 0, "squares": 0}
