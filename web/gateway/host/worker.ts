import { expose } from 'comlink';
import { Host } from './host.ts';

// The one entry of every host: a SharedWorker, or a dedicated worker where there is none.
const scope = globalThis as unknown as SharedWorkerGlobalScope | DedicatedWorkerGlobalScope;
const host = new Host({ build: __PERCH_BUILD__, origin: scope.location.origin, close: () => scope.close() });

if ('onconnect' in scope) {
  scope.onconnect = ({ ports }) => {
    const [port] = ports;
    if (port) expose(host, port);
  };
} else expose(host);
