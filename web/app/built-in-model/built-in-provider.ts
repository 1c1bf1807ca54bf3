import { transfer } from 'comlink';
import { serveCalls } from '#shared/link/port-calls.ts';
import { portLink } from '#shared/link/link.ts';
import { builtInModelPort } from '#shared/ports/built-in-port.ts';
import type { PageWorkerProvider } from '#shared/ports/host-api.ts';
import { locale } from '../i18n/locale.ts';
import { promptBuiltInModel, toModelFault } from './prompt-built-in-model.ts';
import { getLanguageModel } from './language-model.ts';

/** Provides the browser's own model to the gateway's worker; each start opens a port for one reply. */
export const builtInProvider: PageWorkerProvider = {
  async start() {
    const { port1, port2 } = new MessageChannel();
    const connection = serveCalls<typeof builtInModelPort.calls, typeof builtInModelPort.events>(
      portLink<string>(port1),
      builtInModelPort.calls,
      {
        'run.generate': (request, signal) => {
          const model = getLanguageModel();
          if (!model) throw toModelFault({ reason: 'gone' });
          return promptBuiltInModel(model, request, { locale, signal, onText: (piece) => connection.send('run.text', piece) });
        },
      },
      { fault: (error) => console.error('[perch built-in model]', error) },
    );
    return transfer(port2, [port2]);
  },
  async stop() {},
};
