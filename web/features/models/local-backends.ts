import type { ModelBackend } from '#shared/ports/local-model.ts';
import { m } from '#app/i18n/messages.ts';

interface LocalBackend {
  label: () => string;
  getLocation: () => string;
  /** Required repository format and runtime. */
  hint: () => string;
  /** Whether it runs in the bridge, not in the browser. */
  needsBridge: boolean;
  /** Suggested repositories, small ones first. */
  examples: readonly string[];
}

/** Local model backends. */
export const LOCAL_BACKENDS: Record<ModelBackend, LocalBackend> = {
  browser: {
    label: () => m.model_words_place_browser(),
    getLocation: () => m.model_words_place_browser_where(),
    hint: () => m.model_words_place_browser_hint(),
    needsBridge: false,
    examples: [
      'HuggingFaceTB/SmolLM2-135M-Instruct',
      'HuggingFaceTB/SmolLM2-360M-Instruct',
      'onnx-community/Qwen2.5-0.5B-Instruct',
      'onnx-community/whisper-base',
    ],
  },
  gguf: {
    label: () => m.model_words_place_gguf(),
    getLocation: () => m.model_words_place_gguf_where(),
    hint: () => m.model_words_place_gguf_hint(),
    needsBridge: true,
    examples: ['Qwen/Qwen2.5-0.5B-Instruct-GGUF', 'Qwen/Qwen2.5-1.5B-Instruct-GGUF', 'Qwen/Qwen2.5-7B-Instruct-GGUF'],
  },
  mlx: {
    label: () => m.model_words_place_mlx(),
    getLocation: () => m.model_words_place_mlx_where(),
    hint: () => m.model_words_place_mlx_hint(),
    needsBridge: true,
    examples: ['mlx-community/Llama-3.2-1B-Instruct-4bit', 'mlx-community/Qwen2.5-1.5B-Instruct-4bit'],
  },
};
