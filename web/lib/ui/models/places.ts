import type { ModelBackend } from '#shared/ports/models.ts';

interface Place {
  label: string;
  where: string;
  /** What its repositories have to be, and what runs them. */
  hint: string;
  /** Runs in the bridge, and not in the browser. */
  bridge: boolean;
  /** Repositories to begin with, small ones first. */
  examples: readonly string[];
}

/** Where models are kept and run on this machine. */
export const PLACES: Record<ModelBackend, Place> = {
  browser: {
    label: 'This browser',
    where: 'in the browser',
    hint: 'A repository with ONNX files, made for transformers.js. It runs in a tab, on the graphics processor where there is one.',
    bridge: false,
    examples: ['HuggingFaceTB/SmolLM2-135M-Instruct', 'HuggingFaceTB/SmolLM2-360M-Instruct', 'onnx-community/Qwen2.5-0.5B-Instruct'],
  },
  gguf: {
    label: 'The bridge (GGUF)',
    where: 'on the disk, GGUF',
    hint: 'A repository with GGUF files. The bridge runs it, once “models runtime install” has fetched what does.',
    bridge: true,
    examples: ['Qwen/Qwen2.5-0.5B-Instruct-GGUF', 'Qwen/Qwen2.5-1.5B-Instruct-GGUF', 'Qwen/Qwen2.5-7B-Instruct-GGUF'],
  },
  mlx: {
    label: 'The bridge (MLX, on Apple silicon)',
    where: 'on the disk, MLX',
    hint: 'A repository made for MLX. The bridge runs it on a Mac with Apple silicon.',
    bridge: true,
    examples: ['mlx-community/Llama-3.2-1B-Instruct-4bit', 'mlx-community/Qwen2.5-1.5B-Instruct-4bit'],
  },
};
