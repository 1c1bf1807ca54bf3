import type { GatewayClient } from '#shared/client/client.ts';
import type { ModelDownload } from '#shared/ports/model-downloads-port.ts';
import type { ModelSource } from '#shared/ports/local-model.ts';
import { isModelId } from '../capabilities/models/local-models.ts';
import { callGateway, connectGateway, type ConnectionOptions } from './connect-gateway.ts';
import { CommandError } from './command-error.ts';
import { deleteThroughGateway, printModels, createProgressBar } from './models-actions.ts';
import { printLine, printJson, escapeToOneLine } from './terminal-output.ts';
import { withGateway } from './with-gateway.ts';

interface GatewayModelOptions extends ConnectionOptions {
  timeout: number;
  json?: boolean;
}

const CLIENT_NAME = 'perch models';

/** `perch models select`: sets the default model of a gateway. Throws CommandError. */
export async function selectModel(id: string, options: GatewayModelOptions): Promise<void> {
  assertModelId(id);
  await withGateway(CLIENT_NAME, options, async (client) => {
    const { selected } = await client.call('models.select', { modelId: id });
    if (options.json) printJson({ selected });
    else printLine(`Default model set to ${selected}`);
  });
}

/** `perch models local` on a gateway's computer. */
export const printGatewayModels = (options: GatewayModelOptions): Promise<void> =>
  withGateway(CLIENT_NAME, options, async (client) => printModels((await client.call('models.local', {})).models, options.json));

/** `perch models delete-local` on a gateway's computer. Throws CommandError. */
export async function deleteOnGateway(id: string, options: GatewayModelOptions): Promise<void> {
  assertModelId(id);
  await deleteThroughGateway(await connectGateway({ ...options, name: CLIENT_NAME, timeoutMs: options.timeout }), id, options.json);
}

interface GatewayDownloadOptions extends GatewayModelOptions {
  filename?: string;
  backend: 'gguf' | 'mlx';
  source: ModelSource;
}

/** `perch models download` on a gateway's computer: waits for the end. Ctrl+C leaves the download running. Throws CommandError. */
export async function downloadOnGateway(repo: string, options: GatewayDownloadOptions): Promise<void> {
  const { filename, backend, source, json, timeout } = options;
  const client = await connectGateway({ ...options, name: CLIENT_NAME, timeoutMs: timeout, events: 'all' });
  const bar = createProgressBar();
  try {
    const { id } = await callGateway(
      client,
      'models.download',
      { repo, backend, source, ...(filename === undefined ? {} : { filename }) },
      timeout,
    );
    const done = await awaitDownloadEnd(client, id, ({ file, bytes, total }) => {
      if (file !== null && total !== null) bar.show({ file, received: bytes, total });
    });
    bar.end();
    if (done.state !== 'done' || done.modelId === null) throw new CommandError(done.error ?? `The download was ${done.state}`);
    if (json) printJson({ id: done.modelId, sizeBytes: done.bytes });
    else printLine(escapeToOneLine(done.modelId));
  } finally {
    bar.end();
    client.close();
  }
}

/** Resolves to a finished download, which may have finished before this call. */
async function awaitDownloadEnd(client: GatewayClient, id: string, onprogress: (download: ModelDownload) => void): Promise<ModelDownload> {
  const end = Promise.withResolvers<ModelDownload>();
  end.promise.catch(() => {});
  const checkProgress = (download: ModelDownload): void => {
    if (download.id !== id) return;
    onprogress(download);
    if (download.state !== 'running') end.resolve(download);
  };
  client.on('models.progress', checkProgress);
  void client.closed.then(() => end.reject(new CommandError('The connection to the gateway was lost. The download continues there.')));
  const { downloads } = await callGateway(client, 'models.downloads', {});
  downloads.forEach(checkProgress);
  return end.promise;
}

function assertModelId(id: string): void {
  if (!isModelId(id)) throw new CommandError(`"${id}" is not a model ID. Use <owner>/<name>/<file>.`, 2);
}
