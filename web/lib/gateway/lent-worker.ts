import { transfer } from 'comlink';
import { lentName, type LentWork, type WorkerLender } from '#shared/ports/host.ts';
import { locale } from '../i18n/locale.ts';
import url from '../../gateway/host/worker.ts?worker&url';
import { scriptURL } from '../trusted.ts';

/** A worker for one kind of task that a page provides to the gateway's worker: started on demand, one at a time. */
export class LentWorker implements WorkerLender {
  readonly work: LentWork;
  #worker: Worker | undefined;

  constructor(work: LentWork) {
    this.work = work;
  }

  async start(): Promise<MessagePort> {
    await this.stop();
    this.#worker = new Worker(scriptURL(url), { type: 'module', name: lentName(this.work) });
    const { port1, port2 } = new MessageChannel();
    this.#worker.postMessage(locale, [port1]);
    return transfer(port2, [port2]);
  }

  async stop(): Promise<void> {
    this.#worker?.terminate();
    this.#worker = undefined;
  }
}
