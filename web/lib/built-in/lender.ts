import { transfer } from 'comlink';
import { answer } from '#shared/link/calls.ts';
import { portLink } from '#shared/link/link.ts';
import { builtInPort } from '#shared/ports/built-in.ts';
import type { WorkerLender } from '#shared/ports/host.ts';
import { locale } from '#lib/i18n/locale.ts';
import { answerOf, fault } from './answer.ts';
import { languageModel } from './language-model.ts';

/** The browser's own model, as a page provides it to the gateway's worker: each start handles one more answer. */
export const builtInLender: WorkerLender = {
  async start() {
    const { port1, port2 } = new MessageChannel();
    const said = answer<typeof builtInPort.calls, typeof builtInPort.events>(
      portLink<string>(port1),
      builtInPort.calls,
      {
        'run.generate': (request, signal) => {
          const model = languageModel();
          if (!model) throw fault({ reason: 'gone' });
          return answerOf(model, request, { locale, signal, say: (piece) => said.send('run.text', piece) });
        },
      },
      { fault: (error) => console.error('[perch built-in model]', error) },
    );
    return transfer(port2, [port2]);
  },
  async stop() {},
};
