import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { GgufRequest, ggufPort } from '#shared/ports/gguf-port.ts';
import type { ContractResult } from '#shared/rpc/contract.ts';
import { type GgufOptions as FileOptions, createGgufFile } from './gguf-file.ts';
import type { OptionalPackage } from '../../bridge/extras/extra.ts';
import { ProcessKeeper } from '../../bridge/processes/process-keeper.ts';
import { listProcesses } from '../../bridge/processes/list-processes.ts';
import { LocalModels } from '../../bridge/capabilities/models/local-models.ts';
import { GgufModels, type GgufOptions } from '../../bridge/capabilities/gguf/gguf-models.ts';

export const TINY_MODEL = 'perch/tiny/tiny.gguf';

/** A home with models, and the handlers that run them. */
export function createGgufHome(extra: Pick<OptionalPackage, 'state' | 'entry' | 'spec'>, options: Partial<GgufOptions> = {}) {
  const home = mkdtempSync(join(tmpdir(), 'perch-gguf-'));
  const logged: string[] = [];
  const log = (line: string): void => void logged.push(line);
  const models = new LocalModels(home);
  const gguf = new GgufModels({ models, extra, keeper: new ProcessKeeper(log), log, ...options });
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
    add: (id = TINY_MODEL, file: FileOptions = {}) => put(id, createGgufFile(file)),
    async generate(
      request: Partial<GgufRequest> = {},
      { model = TINY_MODEL, signal = new AbortController().signal, told: onText = (_text: string): void => {} } = {},
    ) {
      const texts: string[] = [];
      const send = (_event: string, { text }: { text: string }): void => {
        texts.push(text);
        onText(text);
      };
      const fullRequest: GgufRequest = { messages: [{ role: 'user', text: 'Hi' }], seed: 1, maxTokens: 12, ...request };
      const answer: ContractResult<(typeof ggufPort.calls)['gguf.generate']> = await gguf.handlers['gguf.generate'](
        { model, request: fullRequest },
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

/** Pids of running runners that this process has started. */
export async function listRunners(): Promise<number[]> {
  const children = (await listProcesses('')).filter(({ parent }) => parent === process.pid);
  return children.filter(({ pid }) => readCommand(pid).includes('runner.ts')).map(({ pid }) => pid);
}

function readCommand(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    // The process has exited.
    return '';
  }
}
