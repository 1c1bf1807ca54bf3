import { transfer } from 'comlink';
import { getPageWorkerName, type PageTask, type PageWorkerProvider } from '#shared/ports/host-api.ts';
import { locale } from '../i18n/locale.ts';
import url from '../../gateway/host/worker.ts?worker&url';
import { toTrustedScriptUrl } from './trusted-script-url.ts';

/** A worker for one kind of task that a page provides to the gateway's worker: started on demand, one at a time. */
export class TaskWorker implements PageWorkerProvider {
  readonly task: PageTask;
  #worker: Worker | undefined;

  constructor(task: PageTask) {
    this.task = task;
  }

  async start(): Promise<MessagePort> {
    await this.stop();
    this.#worker = new Worker(toTrustedScriptUrl(url), { type: 'module', name: getPageWorkerName(this.task) });
    const { port1, port2 } = new MessageChannel();
    this.#worker.postMessage(locale, [port1]);
    return transfer(port2, [port2]);
  }

  async stop(): Promise<void> {
    this.#worker?.terminate();
    this.#worker = undefined;
  }
}
