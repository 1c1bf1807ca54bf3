import { freemem, totalmem } from 'node:os';
import type { ModelSource } from '#shared/ports/models.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { download, type Progress } from '../capabilities/models/download.ts';
import { Hub } from '../capabilities/models/hub.ts';
import { isAppleSilicon } from '../capabilities/mlx/mlx.ts';
import { isModelId, LocalModels } from '../capabilities/models/local-models.ts';
import { commandLine } from '../command-line.ts';
import { Home } from '../home.ts';
import { sizeText } from './backup-text.ts';
import { connect } from './connect.ts';
import { CommandError, lineOf } from './errors.ts';
import { runtimeOf } from './model-runtime.ts';
import { cut, note, say, sayJson, shown, shownLine, terminalWidth } from './output.ts';

/** Columns of a bar where there is room. */
const BAR = 30;

const warn = (line: string): void => note(shownLine(line));
const localModels = async (): Promise<LocalModels> => new LocalModels((await Home.open({ warn })).dir);

export interface ModelDownloadOptions {
  filename?: string;
  backend: 'gguf' | 'mlx';
  source: ModelSource;
  json?: boolean;
}

/** `perch models download`: needs no gateway. Prints the model's id. Throws CommandError. */
export async function downloadModel(repo: string, { filename, backend, source, json }: ModelDownloadOptions): Promise<void> {
  if (backend === 'mlx' && !isAppleSilicon({})) throw new CommandError('--backend mlx requires a Mac with Apple silicon');
  const stop = new AbortController();
  const interrupt = (): void => stop.abort(new CommandError('Download stopped. Run the same command to resume it.'));
  process.once('SIGINT', interrupt);
  const bar = progressBar();
  try {
    const models = await localModels();
    const memory = Math.max(freemem(), totalmem() / 2);
    const done = await download({
      hub: new Hub(source),
      models,
      repo,
      filename,
      memory,
      backend,
      signal: stop.signal,
      onprogress: bar.show,
    });
    bar.end();
    const state = backend === 'mlx' ? 'ready' : (await (await runtimeOf()).state()).state;
    if (json) sayJson({ ...done, runtime: state });
    else say(shownLine(done.id));
    if (state !== 'ready') warn(`To run this model, install the GGUF runtime with \`${commandLine('models runtime install')}\`.`);
  } catch (error) {
    bar.end();
    throw error instanceof CommandError ? error : new CommandError(lineOf(error), 1, { cause: error });
  } finally {
    process.removeListener('SIGINT', interrupt);
  }
}

/** `perch models local`. */
export async function printLocal({ json }: { json?: boolean }): Promise<void> {
  const models = (await (await localModels()).list()).map(({ header: _header, ...model }) => model);
  if (json) return sayJson({ models });
  if (models.length === 0) return say(`No local models. Download one with \`${commandLine('models download')} <owner>/<name>\`.`);
  for (const { id, sizeBytes, contextWindow, problem } of models)
    say(shown([id, sizeText(sizeBytes), problem ?? (contextWindow === null ? '' : `${contextWindow} tokens`)].filter(Boolean).join('  ')));
}

/** `perch models delete-local`. Throws CommandError where there is no such model. */
export async function deleteLocal(id: string, { json }: { json?: boolean }): Promise<void> {
  const freed = await (await localModels()).remove(id);
  if (freed === null) throw missing(id);
  if (json) sayJson({ deleted: true, id, sizeBytes: freed });
  else say(`Deleted ${id} (${sizeText(freed)})`);
}

export interface ModelSelectOptions {
  port: number;
  authToken?: string;
  password?: string;
  vault?: string;
  json?: boolean;
}

/** `perch models select`: the setting `chat.model` of the running gateway. Throws CommandError. */
export async function selectModel(id: string, { port, authToken, password, vault, json }: ModelSelectOptions): Promise<void> {
  if (!isModelId(id)) throw new CommandError(`"${id}" is not a model ID. Use <owner>/<name>/<file>.`, 2);
  const found = await (await localModels()).find(id);
  if (!found) throw missing(id);
  if (found.problem !== null) throw new CommandError(`${id} can’t be used: ${found.problem}`);
  const client = await connect({ port, token: authToken, password, vault, name: 'models' });
  try {
    const key = `${found.backend}/${id}`;
    await client.call('config.set', { key: 'chat.model', value: key });
    if (json) sayJson({ selected: key });
    else say(`Default model set to ${key}`);
  } catch (error) {
    if (error instanceof RpcError) throw new CommandError(lineOf(error), 1, { cause: error });
    throw error;
  } finally {
    client.close();
  }
}

const missing = (id: string): CommandError =>
  new CommandError(`No local model "${id}". List models with \`${commandLine('models local')}\`.`);

/** A bar on standard error where that is a terminal, else nothing. */
function progressBar(): { show(progress: Progress): void; end(): void } {
  const { stderr } = process;
  if (!stderr.isTTY) return { show: () => {}, end: () => {} };
  let shown = '';
  return {
    show({ received, total }) {
      const share = total === 0 ? 1 : received / total;
      const facts = `${Math.floor(share * 100)} %  ${sizeText(received)} of ${sizeText(total)}`;
      // A line that is longer than the terminal is wide would be left behind each time.
      const width = terminalWidth(stderr) - 1;
      const bar = Math.max(0, Math.min(BAR, width - facts.length - 1));
      const filled = Math.floor(share * bar);
      const line = cut(`${'█'.repeat(filled)}${'░'.repeat(bar - filled)}${bar > 0 ? ' ' : ''}${facts}`, width);
      if (line === shown) return;
      shown = line;
      stderr.write(`\r\u001b[2K${line}`);
    },
    end() {
      if (shown !== '') stderr.write('\n');
      shown = '';
    },
  };
}
