import { expose } from 'comlink';
import { findDemoSuffix } from '#shared/demo-suffix.ts';
import { getPageWorkerName, PAGE_WORKERS } from '#shared/ports/host-api.ts';
import { Host } from './host.ts';

// Entry point of every worker, so that shared modules are built once: the host is a SharedWorker, or a dedicated worker if that is
// unavailable.
const scope = globalThis as unknown as SharedWorkerGlobalScope | DedicatedWorkerGlobalScope;
const nameSuffix = findDemoSuffix(scope.name);
const createHost = (): Host =>
  new Host({
    build: __PERCH_BUILD__,
    origin: scope.location.origin,
    nameSuffix,
    close: () => scope.close(),
    ...(nameSuffix === '' ? {} : { outside: async () => (await import('../demo/demo-deps.ts')).createDemoDeps(nameSuffix) }),
  });

/** Work of a dedicated worker that a page starts for the gateway's worker. The first message has the port for its calls. */
const PAGE_TASKS: Record<(typeof PAGE_WORKERS)[number], () => Promise<(port: MessagePort, data: unknown) => void>> = {
  documents: async () => (await import('../documents/serve-documents.ts')).serveDocuments,
  models: async () => {
    const { serveModels } = await import('../browser-models/serve-models.ts');
    return (port) => serveModels(port, scope);
  },
  audio: async () => (await import('../audio/serve-audio.ts')).serveAudio,
};
const pageTask = PAGE_WORKERS.find((work) => scope.name === getPageWorkerName(work));

if ('onconnect' in scope) {
  const sharedHost = createHost();
  scope.onconnect = ({ ports }) => {
    const [port] = ports;
    if (port) expose(sharedHost, port);
  };
} else if (pageTask) {
  const loading = PAGE_TASKS[pageTask]();
  // The gateway's worker tries another page, or reports that the work took too long.
  loading.catch(reportError);
  scope.addEventListener('message', async ({ data, ports: [port] }: MessageEvent<unknown>) => port && (await loading)(port, data), {
    once: true,
  });
} else expose(createHost());
