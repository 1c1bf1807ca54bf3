import { expose } from 'comlink';
import { findDemoSuffix } from '#shared/demo-suffix.ts';
import { getPageWorkerName } from '#shared/ports/host-api.ts';
import { serveAudio } from '../audio/serve-audio.ts';
import { serveModels } from '../browser-models/serve-models.ts';
import { serveDocuments } from '../documents/serve-documents.ts';
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

if ('onconnect' in scope) {
  const sharedHost = createHost();
  scope.onconnect = ({ ports }) => {
    const [port] = ports;
    if (port) expose(sharedHost, port);
  };
} else if (scope.name === getPageWorkerName('documents')) serveDocuments(scope);
else if (scope.name === getPageWorkerName('models')) serveModels(scope);
else if (scope.name === getPageWorkerName('audio')) serveAudio(scope);
else expose(createHost());
