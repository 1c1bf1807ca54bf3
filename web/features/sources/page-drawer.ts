import type { DrawingMessage, DrawRequest, PageDrawing } from '#shared/ports/page-drawing.ts';
import { TaskWorker } from '#app/connection/task-worker.ts';

/** Draws pages of PDFs in a worker of its own, which a damaged file cannot make the app wait for. */
export class PageDrawer {
  readonly #worker = new TaskWorker('documents');
  #port: MessagePort | undefined;
  #isBusy = false;

  /** Rejects with a message for people if the file cannot be shown. A drawing in progress is given up, and never resolves. */
  async draw(request: DrawRequest): Promise<PageDrawing> {
    if (this.#isBusy) this.close();
    this.#isBusy = true;
    const port = (this.#port ??= await this.#worker.start());
    const response = Promise.withResolvers<PageDrawing>();
    port.onmessage = ({ data }: MessageEvent<DrawingMessage>) => {
      this.#isBusy = false;
      if ('drawing' in data) response.resolve(data.drawing);
      else response.reject(new Error('refused' in data ? data.refused.message : data.failed));
    };
    port.postMessage({ draw: request });
    return response.promise;
  }

  close(): void {
    this.#port?.close();
    this.#port = undefined;
    void this.#worker.stop();
  }
}
