import { freemem, totalmem } from 'node:os';
import type { GatewayClient } from '#shared/client/client.ts';
import type { LocalModel, ModelSource } from '#shared/ports/models.ts';
import { download, type Progress } from '../capabilities/models/download.ts';
import { Hub } from '../capabilities/models/hub.ts';
import { isAppleSilicon } from '../capabilities/mlx/mlx.ts';
import { LocalModels } from '../capabilities/models/local-models.ts';
import { commandLine } from '../command-line.ts';
import { Home } from '../home.ts';
import { isServed } from '../vault-folders.ts';
import { sizeText } from './backup-text.ts';
import { callOf, connect, type ConnectionOptions } from './connect.ts';
import { clearDefaultModel } from './default-model.ts';
import { CommandError, lineOf } from './errors.ts';
import { runtimeOf } from './model-runtime.ts';
import { cut, note, say, sayJson, shown, shownLine, terminalWidth } from './output.ts';

/** Maximum width of a progress bar in columns. */
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
  printModels(
    (await (await localModels()).list()).map(({ header: _header, path: _path, ...model }) => model),
    json,
  );
}

/** Prints models of this computer or of a gateway's. */
export function printModels(models: readonly LocalModel[], json = false): void {
  if (json) return sayJson({ models });
  if (models.length === 0) return say(`No local models. Download one with \`${commandLine('models download')} <owner>/<name>\`.`);
  for (const { id, sizeBytes, contextWindow, problem } of models)
    say(shown([id, sizeText(sizeBytes), problem ?? (contextWindow === null ? '' : `${contextWindow} tokens`)].filter(Boolean).join('  ')));
}

export interface DeleteLocalOptions extends ConnectionOptions {
  timeout: number;
  json?: boolean;
}

/**
 * `perch models delete-local`. A gateway that serves this home deletes the model itself, since it may be loaded or the default. Throws
 * CommandError if there is no such model.
 */
export async function deleteLocal(id: string, options: DeleteLocalOptions): Promise<void> {
  const { dir } = await Home.open({ warn });
  const models = new LocalModels(dir);
  const found = await models.find(id);
  if (!found) throw missing(id);
  if (await isServed(dir)) {
    const client = await connect({ ...options, name: 'perch models', timeoutMs: options.timeout }).catch(() => undefined);
    if (client) return deleteThrough(client, id, options.json);
  }
  const freed = await models.remove(id);
  if (freed === null) throw missing(id);
  const defaultCleared = await clearDefaultModel(dir, `${found.backend}/${id}`);
  printDeleted({ id, sizeBytes: freed, defaultCleared }, options.json);
}

/** Deletes a model on a gateway's computer, and closes the connection. Throws CommandError. */
export async function deleteThrough(client: GatewayClient, id: string, json = false): Promise<void> {
  try {
    const { sizeBytes, defaultCleared } = await callOf(client, 'models.deleteLocal', { modelId: id });
    printDeleted({ id, sizeBytes, defaultCleared }, json);
  } finally {
    client.close();
  }
}

function printDeleted(deleted: { id: string; sizeBytes: number; defaultCleared: boolean }, json = false): void {
  if (json) sayJson({ deleted: true, ...deleted });
  else say(`Deleted ${deleted.id} (${sizeText(deleted.sizeBytes)})`);
  if (deleted.defaultCleared)
    warn(
      `Warning: ${deleted.id} was the default model. No default model is set now. Choose one with \`${commandLine('models select')} <owner>/<name>/<file>\` or in the app.`,
    );
}

const missing = (id: string): CommandError =>
  new CommandError(`No local model "${id}". List models with \`${commandLine('models local')}\`.`);

/** A progress bar on standard error, if that is a terminal. */
export function progressBar(): { show(progress: Progress): void; end(): void } {
  const { stderr } = process;
  if (!stderr.isTTY) return { show: () => {}, end: () => {} };
  let shown = '';
  return {
    show({ received, total }) {
      const share = total === 0 ? 1 : received / total;
      const facts = `${Math.floor(share * 100)} %  ${sizeText(received)} of ${sizeText(total)}`;
      // A line wider than the terminal could not be overwritten.
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
