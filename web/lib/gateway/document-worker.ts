import { transfer } from 'comlink';
import { DOCUMENTS_WORKER, type DocumentsLender } from '#shared/ports/host.ts';
import url from '../../gateway/host/worker.ts?worker&url';
import { scriptURL } from '../trusted.ts';

/** The worker that reads documents, as a page lends it to the gateway's: started when it is wanted, one at a time. */
export class DocumentWorker implements DocumentsLender {
  #worker: Worker | undefined;

  async start(): Promise<MessagePort> {
    await this.stop();
    this.#worker = new Worker(scriptURL(url), { type: 'module', name: DOCUMENTS_WORKER });
    const { port1, port2 } = new MessageChannel();
    this.#worker.postMessage(null, [port1]);
    return transfer(port2, [port2]);
  }

  async stop(): Promise<void> {
    this.#worker?.terminate();
    this.#worker = undefined;
  }
}
