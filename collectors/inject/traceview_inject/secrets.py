"""Rules for what a capture may keep of environment and command line: variables by name, and how secrets are blanked.

Invariant: a variable that is not named here is not recorded, and a value that looks like a secret, by the name it goes
by or by its own form, becomes `***`. traceview applies the same rule to traces from elsewhere.
"""

# A list of names is easier to read and to change as lines of words.
# ruff: noqa: SIM905

import re

BLANK = "***"
DEEPEST = 50
"""Levels of a document that are looked at; what lies deeper is blanked."""

# The variables that change how a training step runs, by who reads them.
THREADS = """
OMP_NUM_THREADS OMP_PROC_BIND OMP_PLACES OMP_SCHEDULE OMP_DYNAMIC OMP_WAIT_POLICY OMP_STACKSIZE OMP_THREAD_LIMIT
OMP_MAX_ACTIVE_LEVELS OMP_NESTED OMP_DISPLAY_ENV KMP_AFFINITY KMP_BLOCKTIME KMP_SETTINGS KMP_HW_SUBSET KMP_TPAUSE
KMP_STACKSIZE KMP_LIBRARY KMP_DUPLICATE_LIB_OK KMP_INIT_AT_FORK KMP_FORKJOIN_BARRIER_PATTERN KMP_PLAIN_BARRIER_PATTERN
KMP_REDUCTION_BARRIER_PATTERN GOMP_CPU_AFFINITY GOMP_SPINCOUNT MKL_NUM_THREADS MKL_DOMAIN_NUM_THREADS MKL_DYNAMIC
MKL_THREADING_LAYER MKL_INTERFACE_LAYER MKL_ENABLE_INSTRUCTIONS MKL_DEBUG_CPU_TYPE MKL_CBWR MKL_VERBOSE
OPENBLAS_NUM_THREADS OPENBLAS_CORETYPE OPENBLAS_MAIN_FREE GOTO_NUM_THREADS BLIS_NUM_THREADS NUMEXPR_NUM_THREADS
""".split()
ONEDNN_NAMES = """
MAX_CPU_ISA CPU_ISA_HINTS DEFAULT_FPMATH_MODE PRIMITIVE_CACHE_CAPACITY VERBOSE VERBOSE_TIMESTAMP JIT_PROFILE JIT_DUMP
""".split()
ONEDNN = [
    prefix + name
    for prefix in ("ONEDNN_", "DNNL_")
    for name in [
        "MAX_CPU_ISA",
        "CPU_ISA_HINTS",
        "DEFAULT_FPMATH_MODE",
        "PRIMITIVE_CACHE_CAPACITY",
        "VERBOSE",
        "VERBOSE_TIMESTAMP",
        "JIT_PROFILE",
        "JIT_DUMP",
    ]
]
MEMORY = """
LD_PRELOAD GLIBC_TUNABLES MALLOC_CONF MALLOC_ARENA_MAX MALLOC_ARENA_TEST MALLOC_MMAP_MAX_ MALLOC_MMAP_THRESHOLD_
MALLOC_TOP_PAD_ MALLOC_TRIM_THRESHOLD_ MALLOC_PERTURB_
""".split()
CUDA = """
CUDA_VISIBLE_DEVICES CUDA_LAUNCH_BLOCKING CUDA_DEVICE_ORDER CUDA_DEVICE_MAX_CONNECTIONS CUDA_MODULE_LOADING
CUDA_CACHE_DISABLE CUDA_CACHE_MAXSIZE CUDA_FORCE_PTX_JIT CUDA_SCALE_LAUNCH_QUEUES CUDA_AUTO_BOOST NVIDIA_TF32_OVERRIDE
NVIDIA_VISIBLE_DEVICES CUBLAS_WORKSPACE_CONFIG CUBLASLT_WORKSPACE_SIZE CUDNN_CONV_WSCAP_DBG
CUDNN_LOGINFO_DBG CUDNN_LOGDEST_DBG
CUDNN_LOGLEVEL_DBG
""".split()
ROCM = """
HIP_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES HIP_LAUNCH_BLOCKING HIP_FORCE_DEV_KERNARG GPU_MAX_HW_QUEUES
AMD_SERIALIZE_KERNEL HSA_OVERRIDE_GFX_VERSION HSA_ENABLE_SDMA HSA_NO_SCRATCH_RECLAIM HSA_XNACK ROCBLAS_LAYER
HIPBLASLT_TENSILE_LIBPATH MIOPEN_FIND_MODE MIOPEN_FIND_ENFORCE MIOPEN_USER_DB_PATH MIOPEN_SYSTEM_DB_PATH
MIOPEN_CUSTOM_CACHE_DIR MIOPEN_DISABLE_CACHE MIOPEN_DEBUG_CONV_WINOGRAD MIOPEN_DEBUG_CONV_DIRECT
MIOPEN_DEBUG_CONV_GEMM MIOPEN_DEBUG_CONV_FFT MIOPEN_DEBUG_CONV_IMPLICIT_GEMM MIOPEN_LOG_LEVEL
""".split()
COMMUNICATION = """
RANK LOCAL_RANK GROUP_RANK WORLD_SIZE LOCAL_WORLD_SIZE NCCL_ALGO NCCL_PROTO NCCL_DEBUG NCCL_DEBUG_SUBSYS
NCCL_P2P_DISABLE NCCL_P2P_LEVEL NCCL_SHM_DISABLE NCCL_IB_DISABLE NCCL_IB_HCA NCCL_IB_GID_INDEX
NCCL_IB_QPS_PER_CONNECTION NCCL_SOCKET_IFNAME NCCL_SOCKET_NTHREADS NCCL_NSOCKS_PERTHREAD NCCL_NET NCCL_NET_GDR_LEVEL
NCCL_NVLS_ENABLE NCCL_CROSS_NIC NCCL_BUFFSIZE NCCL_NTHREADS NCCL_MIN_NCHANNELS NCCL_MAX_NCHANNELS NCCL_MIN_CTAS
NCCL_MAX_CTAS NCCL_CUMEM_ENABLE NCCL_LAUNCH_MODE NCCL_TOPO_FILE NCCL_TUNER_PLUGIN NCCL_ASYNC_ERROR_HANDLING
NCCL_BLOCKING_WAIT GLOO_SOCKET_IFNAME
""".split()
PYTORCH = """
PYTORCH_ALLOC_CONF PYTORCH_CUDA_ALLOC_CONF PYTORCH_HIP_ALLOC_CONF PYTORCH_NO_CUDA_MEMORY_CACHING PYTORCH_JIT
PYTORCH_NVFUSER_DISABLE PYTORCH_TUNABLEOP_ENABLED PYTORCH_TUNABLEOP_TUNING PYTORCH_MIOPEN_SUGGEST_NHWC
PYTORCH_ENABLE_MPS_FALLBACK ATEN_CPU_CAPABILITY TORCH_COMPILE_DISABLE TORCHDYNAMO_DISABLE TORCHDYNAMO_VERBOSE
TORCHINDUCTOR_MAX_AUTOTUNE TORCHINDUCTOR_MAX_AUTOTUNE_GEMM TORCHINDUCTOR_LAYOUT_OPTIMIZATION TORCHINDUCTOR_FREEZING
TORCHINDUCTOR_FORCE_DISABLE_CACHES TORCHINDUCTOR_FX_GRAPH_CACHE TORCHINDUCTOR_COMPILE_THREADS
TORCHINDUCTOR_CACHE_DIR TORCHINDUCTOR_COORDINATE_DESCENT_TUNING TORCHINDUCTOR_CPP_WRAPPER TORCHINDUCTOR_CUDAGRAPHS
TORCH_ALLOW_TF32_CUBLAS_OVERRIDE TORCH_CUDNN_V8_API_DISABLED TORCH_CUDNN_V8_API_DEBUG TORCH_CUDNN_USE_HEURISTIC_MODE_B
TORCH_CUDNN_SDPA_ENABLED TORCH_BLAS_PREFER_CUBLASLT TORCH_BLAS_PREFER_HIPBLASLT TORCH_LINALG_PREFER_CUSOLVER
TORCH_NCCL_ASYNC_ERROR_HANDLING TORCH_NCCL_AVOID_RECORD_STREAMS TORCH_NCCL_BLOCKING_WAIT TORCH_NCCL_HIGH_PRIORITY
TORCH_NCCL_ENABLE_TIMING TORCH_NCCL_USE_COMM_NONBLOCKING TORCH_DISTRIBUTED_DEBUG TORCH_LOGS TORCH_SHOW_CPP_STACKTRACES
TORCH_USE_CUDA_DSA
""".split()
TENSORFLOW = """
TF_ENABLE_ONEDNN_OPTS TF_XLA_FLAGS TF_NUM_INTRAOP_THREADS TF_NUM_INTEROP_THREADS TF_GPU_ALLOCATOR TF_GPU_THREAD_MODE
TF_GPU_THREAD_COUNT TF_GPU_HOST_MEM_LIMIT_IN_MB TF_CUDNN_USE_AUTOTUNE TF_CUDNN_USE_FRONTEND TF_CUDNN_DETERMINISTIC
TF_CUDNN_WORKSPACE_LIMIT_IN_MB TF_CUDNN_USE_RUNTIME_FUSION TF_DETERMINISTIC_OPS TF_USE_LEGACY_KERAS
TF_FORCE_GPU_ALLOW_GROWTH TF_ENABLE_TENSOR_FLOAT_32_EXECUTION TF_DISABLE_MKL TF_ENABLE_AUTO_MIXED_PRECISION
TF_CPP_MIN_LOG_LEVEL TF_AUTOTUNE_THRESHOLD TF_USE_CUBLASLT KERAS_BACKEND
""".split()
XLA = """
XLA_FLAGS XLA_PYTHON_CLIENT_PREALLOCATE XLA_PYTHON_CLIENT_MEM_FRACTION XLA_PYTHON_CLIENT_ALLOCATOR LIBTPU_INIT_ARGS
XLA_CLIENT_MEM_FRACTION JAX_PLATFORMS JAX_PLATFORM_NAME JAX_ENABLE_X64 JAX_DISABLE_JIT JAX_DEFAULT_MATMUL_PRECISION
JAX_NUM_CPU_DEVICES JAX_DEFAULT_DTYPE_BITS JAX_DEBUG_NANS JAX_ENABLE_COMPILATION_CACHE JAX_COMPILATION_CACHE_DIR
JAX_THREEFRY_PARTITIONABLE JAX_TRACEBACK_FILTERING JAX_CPU_COLLECTIVES_IMPLEMENTATION
""".split()
OTHERS = """
ORT_DISABLE_ALL_OPTIMIZATION ORT_CUDA_MAX_THREADS_PER_BLOCK ORT_TENSORRT_FP16_ENABLE ORT_TENSORRT_ENGINE_CACHE_ENABLE
ORT_TENSORRT_INT8_ENABLE ORT_TENSORRT_MAX_WORKSPACE_SIZE MXNET_ENGINE_TYPE MXNET_EXEC_BULK_EXEC_TRAIN
MXNET_EXEC_BULK_EXEC_INFERENCE MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN MXNET_EXEC_ENABLE_INPLACE MXNET_MKLDNN_ENABLED
MXNET_ONEDNN_ENABLED MXNET_MKLDNN_CACHE_NUM MXNET_CUDNN_AUTOTUNE_DEFAULT MXNET_CUDNN_LIB_CHECKING
MXNET_CUDA_ALLOW_TENSOR_CORE MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION MXNET_CPU_WORKER_NTHREADS
MXNET_CPU_PRIORITY_NTHREADS MXNET_CPU_NNPACK_NTHREADS MXNET_GPU_WORKER_NTHREADS MXNET_GPU_MEM_POOL_TYPE
MXNET_GPU_MEM_POOL_RESERVE MXNET_OMP_MAX_THREADS MXNET_USE_FUSION MXNET_SUBGRAPH_BACKEND MXNET_SAFE_ACCUMULATION
MXNET_BACKWARD_DO_MIRROR MXNET_KVSTORE_USETREE MXNET_KVSTORE_BIGARRAY_BOUND MXNET_PROFILER_AUTOSTART
MXNET_ENFORCE_DETERMINISM MXNET_UPDATE_AGGREGATION_SIZE
THEANO_FLAGS OPENCV_FOR_THREADS_NUM OPENCV_OPENCL_DEVICE OPENCV_DNN_BACKEND_DEFAULT
""".split()
VARIABLES = frozenset(
    THREADS + ONEDNN + MEMORY + CUDA + ROCM + COMMUNICATION + PYTORCH + TENSORFLOW + XLA + OTHERS
)  # fmt: skip

# Names in small letters, a hump of camel case being a new word. A short word counts alone, a long one anywhere.
_NAME = re.compile(
    r"token(?!i[sz])|secret|passw|passphrase|pwd|credential|cookie|session|bearer|auth(?!or(?!i))"
    r"|(?:^|[^a-z])(?:pass|pw|creds?|sig|signature|dsn)(?![a-z])"
    r"|(?:^|[^a-z]|api|access|private|secret|ssh|account|license|encryption|signing|master)keys?(?![a-z])"
)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# Tokens are also what a language model counts.
_COUNT = re.compile(
    r"(?:^|[^a-z])(?:n|num|max|min|number|count|size|len|length|per|limit|dims?|total|seq|heads?)(?![a-z])"
)
_NUMBER = re.compile(r"\d{1,9}(?:\.\d{1,9})?(?:[eE]\d{1,2}|[kKmM])?$")
_HARMLESS = frozenset(["", "0", "1", "true", "false", "yes", "no", "on", "off", "none", "null", BLANK])
# Whose value may stand behind a colon without quotes, to the end of the line: HTTP headers, YAML.
_HEADER = re.compile(r"authorization|cookie|passw|secret|token|api[_-]?key|(?:^|[^a-z])key|credential")
_FORMS = re.compile(
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)"
    r"|(?<![\w-])(?:hf_[A-Za-z0-9]{20,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|npm_\w{30,}"
    r"|sk-(?=[\w-]*\d)[\w-]{16,}|nvapi-[\w-]{16,}|pypi-[\w-]{16,}|wandb_v\d_\w{16,}|xox[abeprs]-[\w-]{10,}"
    r"|AIza[\w-]{30,}|ya29\.[\w.-]{16,}|(?:AKIA|ASIA)[A-Z0-9]{16}|eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?)"
)
_BEARER = re.compile(r"(?i)\b(bearer\s{1,4})[\w.~+/=-]{6,}")
_USER = re.compile(r"(://)[^\s/\"'<>]{1,300}@")
_USER_SLASH = re.compile(r"(://[^\s:/@\"'<>]{0,200}:)(?!\d{1,5}(?:/|\Z))[^\s\"'<>]{1,300}@")
_PAIR = re.compile(r"(?<![\w.-])([\w.-]{1,200})(\\{0,3}[\"'\]]{0,2}\s{0,4}(?:=>?|:)\s{0,4})")
_SPACED = re.compile(r"(?<![\w-])(--?[A-Za-z][\w.-]{1,200})(\s{1,4})(?!--[A-Za-z]|-[A-Za-z](?:\s|\Z))")
_QUOTED = re.compile(r"(\\{0,3}[\"'])(?:[\s\S]*?)(?:\1|\Z)")
_WORD = re.compile(r"(?:(?:Basic|Bearer|Digest|Token)\s{1,4})?[^\s&\"']+")
_LINE = re.compile(r"[^\r\n\"'}]+")
_OPTION = re.compile(r"--[A-Za-z]|-[A-Za-z]\Z")


def is_secret(name, value):
    """Whether a value is to be blanked for the name it goes by; what cannot be a secret (a switch, a count) is not."""
    words = _HUMP.sub("_", name[-400:]).lower()
    if str(value).lower() in _HARMLESS or not _NAME.search(words):
        return False
    return not (_NUMBER.match(str(value)) and _COUNT.search(words))


def environment(variables):
    """Return those of a process's variables (a mapping) that may be kept, in order of their names."""
    return {name: text(value) for name, value in sorted(variables.items()) if name in VARIABLES}


def command(words):
    """The words of a command line, blanked: `--token=***`, `--password ***`, and secrets inside of words.

    Single letters (`-p`) mean anything and blank nothing. A name in the plural blanks the words up to the next option.
    """
    blanked, waiting = [], ""
    for word in words:
        if waiting and not _OPTION.match(word):
            blanked.append(BLANK if is_secret(waiting, word) else text(word))
            waiting = waiting if waiting.lower().endswith("s") else ""
            continue
        name, equals, value = word.partition("=")
        is_name = not re.search(r"\s", name)
        blanked.append(name + equals + BLANK if equals and is_name and is_secret(name, value) else text(word))
        waiting = name if word.startswith("-") and not equals and is_name else ""
    return blanked


def text(whole):
    """A text without what looks like a secret in it: known forms of tokens, users in URLs, values of named options."""
    whole = _FORMS.sub(BLANK, whole)
    whole = _BEARER.sub(r"\1" + BLANK, whole)
    whole = _USER_SLASH.sub("://" + BLANK + "@", whole)
    whole = _USER.sub(r"\1" + BLANK + "@", whole)
    return _named(_SPACED, _named(_PAIR, whole))


def _named(pattern, text):
    """A text with the values blanked that stand behind names; `pattern` finds a name and what separates the two."""
    kept, position = [], 0
    for found in pattern.finditer(text):
        name, separator = found.groups()
        if found.start() < position or not is_secret(name, "x"):
            continue
        value = _QUOTED.match(text, found.end())
        if value is None and ":" in separator:
            value = _LINE.match(text, found.end()) if _HEADER.search(_HUMP.sub("_", name).lower()) else None
        elif value is None:
            value = _WORD.match(text, found.end())
        if value is None or not is_secret(name, value.group().strip("\\\"'")):
            continue
        quote = value.group(1) if value.re is _QUOTED else ""
        kept += [text[position : found.end()], quote, BLANK, quote]
        position = value.end()
    return "".join([*kept, text[position:]])


def document(value, name="", depth=0):
    """Blank secrets in JSON data: values by their keys, lists of words as command lines, texts as texts."""
    if depth > DEEPEST:
        return BLANK
    if isinstance(value, dict):
        # All below a secret's name is secret, but for a session, which frameworks also call what runs a model.
        is_below = is_secret(name, "x") and "session" not in name.lower()
        return {
            text(key) if isinstance(key, str) else key: document(each, name if is_below else str(key), depth + 1)
            for key, each in value.items()
        }
    if isinstance(value, (list, tuple)):
        if value and not is_secret(name, "x") and all(isinstance(each, str) for each in value):
            return command(value)
        return [document(each, name, depth + 1) for each in value]
    if value is None or isinstance(value, bool):
        return value
    if name and is_secret(name, value):
        return BLANK
    return text(value) if isinstance(value, str) else value
