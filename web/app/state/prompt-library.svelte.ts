import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { FileEntry } from '#shared/rpc/methods/workspace-contracts.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '../connection/gateway-connection.svelte.ts';
import { m } from '../i18n/messages.ts';
import { type Prompt, PROMPT_LIMITS } from '#shared/prompts/prompt.ts';

/** Maximum number of concurrent calls that read files. */
const MAX_CONCURRENT_READS = 16;

interface PromptFile {
  modifiedAt: number;
  prompt: Prompt;
}

/** The person's prompts: Markdown files under `prompts/` in the main workspace. */
class PromptLibrary {
  /** By name; null before the first answer. */
  list = $state.raw<Prompt[] | null>(null);
  problem = $state<Problem | null>(null);
  /** Prompt chosen outside a chat, for the next message field. */
  selected = $state.raw<Prompt | null>(null);
  #cache = new Map<string, PromptFile>();
  #loading: Promise<void> | undefined;

  /** Loads new and changed prompts; concurrent callers share one load. */
  load(): Promise<void> {
    this.#loading ??= this.#load().finally(() => (this.#loading = undefined));
    return this.#loading;
  }

  async #load(): Promise<void> {
    try {
      const { PROMPTS_FOLDER, parsePromptName, parsePrompt } = await import('#shared/prompts/prompt-file.ts');
      const { files } = await gateway.call('workspace.list', { under: PROMPTS_FOLDER });
      const promptFiles = files.flatMap((file) => {
        const name = parsePromptName(file.path);
        return name === null ? [] : [{ name, file }];
      });
      const loaded = new Map<string, PromptFile>();
      const queue = promptFiles.slice(0, PROMPT_LIMITS.count).values();
      const readQueue = async (): Promise<void> => {
        for (const { name, file } of queue) {
          const cached = this.#cache.get(name);
          if (cached?.modifiedAt === file.modifiedAt) loaded.set(name, cached);
          else {
            const text = await readText(file);
            if (text !== null) loaded.set(name, { modifiedAt: file.modifiedAt, prompt: parsePrompt(name, text) });
          }
        }
      };
      await Promise.all(Array.from({ length: MAX_CONCURRENT_READS }, readQueue));
      this.#cache = loaded;
      this.list = [...loaded.values()]
        .map(({ prompt }) => prompt)
        .sort((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }));
      this.problem = null;
    } catch (error) {
      if (!isConnectionLost(error)) this.problem = toProblem(error, m.slash_doing_read_prompts());
    }
  }

  get names(): Set<string> {
    return new Set(this.list?.map(({ name }) => name));
  }
}

/** Text of a file; null if it is not text or no longer exists. */
async function readText({ path }: FileEntry): Promise<string | null> {
  try {
    const { content, encoding } = await gateway.call('workspace.read', { path });
    return encoding === 'utf8' ? content : null;
  } catch (error) {
    if (error instanceof RpcError && error.code === 'NOT_FOUND') return null;
    throw error;
  }
}

export const prompts = new PromptLibrary();
