import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { GgufRequest, ggufPort } from '#shared/ports/gguf.ts';
import type { ResultOf } from '#shared/rpc/contract.ts';
import { type GgufOptions as FileOptions, ggufFile } from './gguf-file.ts';
import type { Extra } from '../../bridge/extras/extra.ts';
import { Keeper } from '../../bridge/processes/keep.ts';
import { processes } from '../../bridge/processes/processes.ts';
import { LocalModels } from '../../bridge/capabilities/models/local-models.ts';
import { GgufModels, type GgufOptions } from '../../bridge/capabilities/gguf/gguf.ts';

export const TINY = 'perch/tiny/tiny.gguf';

/** A home with models in it, and what runs them. */
export function ggufHome(extra: Pick<Extra, 'state' | 'entry' | 'spec'>, options: Partial<GgufOptions> = {}) {
  const home = mkdtempSync(join(tmpdir(), 'perch-gguf-'));
  const logged: string[] = [];
  const log = (line: string): void => void logged.push(line);
  const models = new LocalModels(home);
  const gguf = new GgufModels({ models, extra, keeper: new Keeper(log), log, ...options });
  const put = (id: string, bytes: Uint8Array): void => {
    const path = join(home, 'models', id);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes);
  };
  return {
    home,
    gguf,
    logged,
    models,
    put,
    add: (id = TINY, file: FileOptions = {}) => put(id, ggufFile(file)),
    async ask(
      request: Partial<GgufRequest> = {},
      { model = TINY, signal = new AbortController().signal, told = (_text: string): void => {} } = {},
    ) {
      const texts: string[] = [];
      const send = (_event: string, { text }: { text: string }): void => {
        texts.push(text);
        told(text);
      };
      const whole: GgufRequest = { messages: [{ role: 'user', text: 'Hi' }], seed: 1, maxTokens: 12, ...request };
      const answer: ResultOf<(typeof ggufPort.calls)['gguf.generate']> = await gguf.handlers['gguf.generate'](
        { model, request: whole },
        { signal, send },
      );
      return { ...answer, texts, text: texts.join('') };
    },
    async [Symbol.asyncDispose]() {
      await gguf.unload();
      rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    },
  };
}

/** Pids of runners that this process has started, and that have not ended. */
export async function runnersLeft(): Promise<number[]> {
  const own = (await processes('')).filter(({ parent }) => parent === process.pid);
  return own.filter(({ pid }) => commandOf(pid).includes('runner.ts')).map(({ pid }) => pid);
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    // The process has exited.
    return '';
  }
}
