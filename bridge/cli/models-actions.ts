import { freemem, totalmem } from 'node:os';
import type { GatewayClient } from '#shared/client/client.ts';
import type { LocalModel, ModelSource } from '#shared/ports/local-model.ts';
import { downloadFiles, type DownloadProgress } from '../capabilities/models/download-model.ts';
import { ModelHub } from '../capabilities/models/model-hub.ts';
import { isAppleSilicon } from '../capabilities/mlx/mlx-models.ts';
import { LocalModels } from '../capabilities/models/local-models.ts';
import { toCommandLine } from '../command-line.ts';
import { Home, readFileIfExists, writeFileAtomically } from '../home-directory.ts';
import { isServed } from '../vault-folders.ts';
import { formatSize } from './backup-text.ts';
import { callGateway, connectGateway, type ConnectionOptions } from './connect-gateway.ts';
import { CommandError, toErrorLine } from './command-error.ts';
import { createRuntime } from './model-runtime.ts';
import { truncate, printNote, printLine, printJson, escapeControls, escapeToOneLine, getTerminalWidth } from './terminal-output.ts';
import { realpath, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { applyEdits, modify, parse } from 'jsonc-parser';
import { z } from '#shared/rpc/zod.ts';

const configSchema = z.object({ chat: z.object({ model: z.string() }) });

/** Maximum width of a progress bar in columns. */
const MAX_BAR_COLUMNS = 30;

const printWarning = (line: string): void => printNote(escapeToOneLine(line));
const createLocalModels = async (): Promise<LocalModels> => new LocalModels((await Home.open({ warn: printWarning })).dir);

interface ModelDownloadOptions {
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
  const bar = createProgressBar();
  try {
    const models = await createLocalModels();
    const memory = Math.max(freemem(), totalmem() / 2);
    const done = await downloadFiles({
      hub: new ModelHub(source),
      models,
      repo,
      filename,
      memory,
      backend,
      signal: stop.signal,
      onprogress: bar.show,
    });
    bar.end();
    const state = backend === 'mlx' ? 'ready' : (await (await createRuntime()).state()).state;
    if (json) printJson({ ...done, runtime: state });
    else printLine(escapeToOneLine(done.id));
    if (state !== 'ready') printWarning(`To run this model, install the GGUF runtime with \`${toCommandLine('models runtime install')}\`.`);
  } catch (error) {
    bar.end();
    throw error instanceof CommandError ? error : new CommandError(toErrorLine(error), 1, { cause: error });
  } finally {
    process.removeListener('SIGINT', interrupt);
  }
}

/** `perch models local`. */
export async function printLocalModels({ json }: { json?: boolean }): Promise<void> {
  printModels(
    (await (await createLocalModels()).list()).map(({ header: _header, path: _path, ...model }) => model),
    json,
  );
}

/** Prints models of this computer or of a gateway's. */
export function printModels(models: readonly LocalModel[], json = false): void {
  if (json) return printJson({ models });
  if (models.length === 0) return printLine(`No local models. Download one with \`${toCommandLine('models download')} <owner>/<name>\`.`);
  for (const { id, sizeBytes, contextWindow, problem } of models)
    printLine(
      escapeControls(
        [id, formatSize(sizeBytes), problem ?? (contextWindow === null ? '' : `${contextWindow} tokens`)].filter(Boolean).join('  '),
      ),
    );
}

interface DeleteLocalOptions extends ConnectionOptions {
  timeout: number;
  json?: boolean;
}

/**
 * `perch models delete-local`. A gateway that serves this home deletes the model itself, since it may be loaded or the default. Throws
 * CommandError if there is no such model.
 */
export async function deleteLocalModel(id: string, options: DeleteLocalOptions): Promise<void> {
  const { dir } = await Home.open({ warn: printWarning });
  const models = new LocalModels(dir);
  const found = await models.find(id);
  if (!found) throw createMissingError(id);
  if (await isServed(dir)) {
    const client = await connectGateway({ ...options, name: 'perch models', timeoutMs: options.timeout }).catch(() => undefined);
    if (client) return deleteThroughGateway(client, id, options.json);
  }
  const freed = await models.remove(id);
  if (freed === null) throw createMissingError(id);
  const defaultCleared = await clearDefaultModel(dir, `${found.backend}/${id}`);
  printDeleted({ id, sizeBytes: freed, defaultCleared }, options.json);
}

/** Deletes a model on a gateway's computer, and closes the connection. Throws CommandError. */
export async function deleteThroughGateway(client: GatewayClient, id: string, json = false): Promise<void> {
  try {
    const { sizeBytes, defaultCleared } = await callGateway(client, 'models.deleteLocal', { modelId: id });
    printDeleted({ id, sizeBytes, defaultCleared }, json);
  } finally {
    client.close();
  }
}

function printDeleted(deleted: { id: string; sizeBytes: number; defaultCleared: boolean }, json = false): void {
  if (json) printJson({ deleted: true, ...deleted });
  else printLine(`Deleted ${deleted.id} (${formatSize(deleted.sizeBytes)})`);
  if (deleted.defaultCleared)
    printWarning(
      `Warning: ${deleted.id} was the default model. No default model is set now. Choose one with \`${toCommandLine('models select')} <owner>/<name>/<file>\` or in the app.`,
    );
}

const createMissingError = (id: string): CommandError =>
  new CommandError(`No local model "${id}". List models with \`${toCommandLine('models local')}\`.`);

/** A progress bar on standard error, if that is a terminal. */
export function createProgressBar(): { show(progress: DownloadProgress): void; end(): void } {
  const { stderr } = process;
  if (!stderr.isTTY) return { show: () => {}, end: () => {} };
  let lastLine = '';
  return {
    show({ received, total }) {
      const share = total === 0 ? 1 : received / total;
      const facts = `${Math.floor(share * 100)} %  ${formatSize(received)} of ${formatSize(total)}`;
      // A line wider than the terminal could not be overwritten.
      const width = getTerminalWidth(stderr) - 1;
      const bar = Math.max(0, Math.min(MAX_BAR_COLUMNS, width - facts.length - 1));
      const filled = Math.floor(share * bar);
      const line = truncate(`${'█'.repeat(filled)}${'░'.repeat(bar - filled)}${bar > 0 ? ' ' : ''}${facts}`, width);
      if (line === lastLine) return;
      lastLine = line;
      stderr.write(`\r\u001b[2K${line}`);
    },
    end() {
      if (lastLine !== '') stderr.write('\n');
      lastLine = '';
    },
  };
}

/**
 * Removes `chat.model` from the configuration file of a home that no gateway serves, if it is set to `key`. The next gateway reads the
 * file. Returns whether the file changed.
 */
async function clearDefaultModel(home: string, key: string): Promise<boolean> {
  const path = join(home, 'config.json');
  const text = await readFileIfExists(path);
  if (text === undefined) return false;
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : '';
  const json = text.slice(mark.length);
  const document: unknown = parse(json, [], { allowTrailingComma: true });
  if (configSchema.safeParse(document).data?.chat.model !== key) return false;
  const formattingOptions = { insertSpaces: true, tabSize: 2, eol: '\n' };
  const next = mark + applyEdits(json, modify(json, ['chat', 'model'], undefined, { formattingOptions }));
  await writeFileAtomically(await realpath(path).catch(() => path), next, rename);
  return true;
}
