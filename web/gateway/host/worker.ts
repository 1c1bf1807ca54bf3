import { expose } from 'comlink';
import { markIn } from '#shared/demo-mark.ts';
import { lentName } from '#shared/ports/host.ts';
import { serveModels } from '../browser-models/serve.ts';
import { serveDocuments } from '../documents/serve.ts';
import { Host } from './host.ts';

// Entry point of every worker, so that shared modules are built once: the host is a SharedWorker, or a dedicated worker if that is
// unavailable.
const scope = globalThis as unknown as SharedWorkerGlobalScope | DedicatedWorkerGlobalScope;
const mark = markIn(scope.name);
const host = (): Host =>
  new Host({
    build: __PERCH_BUILD__,
    origin: scope.location.origin,
    mark,
    close: () => scope.close(),
    ...(mark === '' ? {} : { outside: async () => (await import('../demo/outside.ts')).demoOutside() }),
  });

if ('onconnect' in scope) {
  const served = host();
  scope.onconnect = ({ ports }) => {
    const [port] = ports;
    if (port) expose(served, port);
  };
} else if (scope.name === lentName('documents')) serveDocuments(scope);
else if (scope.name === lentName('models')) serveModels(scope);
else expose(host());
