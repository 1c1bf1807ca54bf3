import { RpcError } from '#shared/rpc/errors.ts';
import type { FileEntry } from '#shared/rpc/methods/workspace.ts';
import { isLost, type Problem, problemOf } from '#lib/errors.ts';
import { gateway } from '#lib/gateway/connection.svelte.ts';
import { list } from '#lib/i18n/format.ts';
import { m } from '#lib/i18n/frame.ts';
import { freeName, type Prompt, PROMPT_LIMITS } from '#lib/prompts/prompt.ts';
import { announcer } from './announcer.svelte.ts';

/** Calls under way at once while files are read. */
const AT_ONCE = 16;

interface Read {
  modifiedAt: number;
  prompt: Prompt;
}

const fileParts = (): Promise<typeof import('#lib/prompts/prompt-file.ts')> => import('#lib/prompts/prompt-file.ts');

/** The prompts that a person keeps: Markdown files under `prompts/` in the main workspace. */
class Prompts {
  /** By name; null before the first answer. */
  list = $state.raw<Prompt[] | null>(null);
  problem = $state<Problem | null>(null);
  /** One that was chosen outside of a chat, for the next message field to take. */
  chosen = $state.raw<Prompt | null>(null);
  #read = new Map<string, Read>();
  #loading: Promise<void> | undefined;

  /** Reads what is new or changed; those who ask meanwhile wait for the same answer. */
  load(): Promise<void> {
    this.#loading ??= this.#load().finally(() => (this.#loading = undefined));
    return this.#loading;
  }

  async #load(): Promise<void> {
    try {
      const { PROMPTS_FOLDER, promptName, parsePrompt } = await fileParts();
      const { files } = await gateway.call('workspace.list', { under: PROMPTS_FOLDER });
      const wanted = files.flatMap((file) => {
        const name = promptName(file.path);
        return name === null ? [] : [{ name, file }];
      });
      const read = new Map<string, Read>();
      const left = wanted.slice(0, PROMPT_LIMITS.count).values();
      const work = async (): Promise<void> => {
        for (const { name, file } of left) {
          const known = this.#read.get(name);
          if (known?.modifiedAt === file.modifiedAt) read.set(name, known);
          else {
            const text = await readText(file);
            if (text !== null) read.set(name, { modifiedAt: file.modifiedAt, prompt: parsePrompt(name, text) });
          }
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      this.#read = read;
      this.list = [...read.values()].map(({ prompt }) => prompt).sort((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }));
      this.problem = null;
    } catch (error) {
      if (!isLost(error)) this.problem = problemOf(error, m.slash_doing_read_prompts());
    }
  }

  get names(): Set<string> {
    return new Set(this.list?.map(({ name }) => name));
  }

  /** Writes one in the place of `before`, where it is given. Rejects where the gateway refuses. */
  async save(prompt: Prompt, before: string | null): Promise<void> {
    await this.#write(prompt);
    if (before !== null && before !== prompt.name) await this.#remove(before);
    announcer.say(before === null ? m.slash_prompt_made() : m.slash_prompt_changed());
    await this.load();
  }

  async duplicate(prompt: Prompt): Promise<void> {
    await this.#write({
      ...prompt,
      name: freeName(prompt.name, this.names),
      title: m.slash_prompt_copy({ title: prompt.title }).slice(0, PROMPT_LIMITS.title),
    });
    announcer.say(m.slash_prompt_duplicated());
    await this.load();
  }

  async remove(prompt: Prompt): Promise<void> {
    await this.#remove(prompt.name);
    announcer.say(m.slash_prompt_deleted());
    await this.load();
  }

  /** Adds those of an export: what is there already stays, and another of a name that is taken gets a name of its own. Tells what came of it. */
  async import(prompts: readonly Prompt[]): Promise<string> {
    await this.load();
    const names = this.names;
    let added = 0;
    try {
      for (const prompt of prompts) {
        const same = this.list?.some(({ text, title }) => text === prompt.text && title === prompt.title);
        if (same) continue;
        const name = names.has(prompt.name) ? freeName(prompt.name, names) : prompt.name;
        await this.#write({ ...prompt, name });
        names.add(name);
        added++;
      }
    } finally {
      await this.load();
    }
    const known = prompts.length - added;
    const facts = [m.slash_prompts_added({ count: added }), ...(known > 0 ? [m.slash_prompts_known({ count: known })] : [])];
    return list(facts, { style: 'narrow' });
  }

  async #write(prompt: Prompt): Promise<void> {
    const { promptPath, promptFile } = await fileParts();
    await gateway.call('workspace.write', { path: promptPath(prompt.name), content: promptFile(prompt) });
  }

  async #remove(name: string): Promise<void> {
    const { promptPath } = await fileParts();
    await gateway.call('workspace.remove', { path: promptPath(name) });
  }
}

/** The text of a file; null for one that is none, or that is gone meanwhile. */
async function readText({ path }: FileEntry): Promise<string | null> {
  try {
    const { content, encoding } = await gateway.call('workspace.read', { path });
    return encoding === 'utf8' ? content : null;
  } catch (error) {
    if (error instanceof RpcError && error.code === 'NOT_FOUND') return null;
    throw error;
  }
}

export const prompts = new Prompts();
