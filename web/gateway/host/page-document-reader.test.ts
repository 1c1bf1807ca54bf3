import { describe, expect, vi } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import { waitFor } from '../../../tests/support/test-gateway.ts';
import type { PageWorkerProvider } from '#shared/ports/host-api.ts';
import type { DocumentPassages, DocumentReader, DocumentRequest, PassageRequest, ReadProgress } from '../documents/document-reader.ts';
import type { DocumentWorkerRequest } from '../documents/document-response.ts';
import { PageDocumentReader } from './page-document-reader.ts';
import { PageWorkers } from './page-workers.ts';

const request: DocumentRequest = { kind: 'text', name: 'a.txt', bytes: new Uint8Array([1]), limit: 10 };
const open = new AbortController().signal;
const passages: DocumentPassages = { kind: 'text', text: 'read here', passages: [{ text: 'read here', locator: { start: 0, end: 9 } }] };
const fallbackReader: DocumentReader = { read: async () => ({ text: 'read here' }), readPassages: async () => passages };

/** A page whose worker responds with the result of `answer`; undefined for no response. */
class TestPage implements PageWorkerProvider {
  readonly #answer: (request: DocumentRequest) => unknown;
  started = 0;
  stopped = 0;
  requests = 0;

  constructor(answer: (request: DocumentRequest) => unknown) {
    this.#answer = answer;
  }

  async start(): Promise<MessagePort> {
    this.started++;
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }: MessageEvent<DocumentRequest>) => {
      this.requests++;
      const answer = this.#answer(data);
      if (answer !== undefined) port1.postMessage(answer);
    };
    return port2;
  }

  async stop(): Promise<void> {
    this.stopped++;
  }
}

const createSilentPage = (): TestPage => new TestPage(() => undefined);

describe('documents in workers of pages', () => {
  verifies('office/lent', 'the newest page’s reads, one file after the other in one worker', async () => {
    const pages = new PageWorkers();
    const documents = new PageDocumentReader(pages, fallbackReader);
    const [first, second] = [createSilentPage(), new TestPage(({ name }) => ({ text: { text: name } }))];
    pages.add('first', first);
    pages.add('second', second);
    const texts = await Promise.all(['a', 'b', 'c'].map((name) => documents.read({ ...request, name }, open)));
    expect(texts).toEqual([{ text: 'a' }, { text: 'b' }, { text: 'c' }]);
    expect([first.started, second.started]).toEqual([0, 1]);
  });

  verifies('office/lent', 'a refusal by the worker is returned unchanged, and not tried elsewhere', async () => {
    const pages = new PageWorkers();
    const documents = new PageDocumentReader(pages, fallbackReader);
    pages.add('page', new TestPage(() => ({ refused: { code: 'INVALID_PARAMS', message: 'a.txt is no text' } })));
    await expect(documents.read(request, open)).rejects.toMatchObject({ code: 'INVALID_PARAMS', message: 'a.txt is no text' });
  });

  verifies('office/lent', 'without a page, with one that is gone, goes, or fails, another one or the gateway itself reads', async () => {
    const pages = new PageWorkers();
    const documents = new PageDocumentReader(pages, fallbackReader);
    expect(await documents.read(request, open)).toEqual({ text: 'read here' });
    const [steady, going] = [new TestPage(() => ({ text: { text: 'steady' } })), createSilentPage()];
    pages.add('steady', steady);
    pages.add('going', going);
    const read = documents.read(request, open);
    await waitFor(() => going.requests === 1);
    pages.remove('going');
    expect(await read).toEqual({ text: 'steady' });
    pages.remove('steady');
    pages.add('failing', new TestPage(() => ({ failed: 'the network is away' })));
    expect(await documents.read(request, open)).toEqual({ text: 'read here' });
    pages.add('refusing', { start: () => Promise.reject(new Error('no worker here')), stop: async () => {} });
    expect(await documents.read(request, open)).toEqual({ text: 'read here' });
  });

  verifies('office/lent', 'a file that pages die of is not read by one page after another, nor by the gateway itself', async () => {
    const pages = new PageWorkers();
    const documents = new PageDocumentReader(pages, fallbackReader);
    const silent = [createSilentPage(), createSilentPage(), createSilentPage()];
    for (const [at, page] of silent.entries()) pages.add(String(at), page);
    const read = documents.read(request, open);
    for (const at of [2, 1]) {
      await waitFor(() => silent[at]?.requests === 1);
      pages.remove(String(at));
    }
    await expect(read).rejects.toMatchObject({
      code: 'INVALID_PARAMS',
      message: 'a.txt couldn’t be read because the tab reading it was closed. Try again.',
    });
    expect(silent[0]?.started).toBe(0);
    // The last remaining page.
    const last = documents.read(request, open);
    await waitFor(() => silent[0]?.requests === 1);
    pages.remove('0');
    await expect(last).rejects.toThrow('was closed');
    expect(await documents.read(request, open)).toEqual({ text: 'read here' });
  });

  verifies('office/lent', 'a reading that nobody wants any more ends its worker; the next one gets another', async () => {
    const pages = new PageWorkers();
    const documents = new PageDocumentReader(pages, fallbackReader);
    let answer: unknown = undefined;
    const page = new TestPage(() => answer);
    pages.add('page', page);
    const stop = new AbortController();
    const read = documents.read(request, stop.signal);
    await waitFor(() => page.requests === 1);
    stop.abort(new Error('enough'));
    await expect(read).rejects.toThrow('enough');
    expect(page.stopped).toBe(1);
    answer = { text: { text: 'again' } };
    expect(await documents.read(request, open)).toEqual({ text: 'again' });
    expect(page.started).toBe(2);
  });

  verifies('office/lent', 'passages come from a page with its progress, or else from the gateway itself', async () => {
    const pages = new PageWorkers();
    const documents = new PageDocumentReader(pages, fallbackReader);
    const split: PassageRequest = { name: 'a.md', bytes: new Uint8Array([1]) };
    expect(await documents.readPassages(split, open)).toEqual(passages);
    const requests: unknown[] = [];
    pages.add('page', {
      async start() {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = ({ data }: MessageEvent<DocumentWorkerRequest>) => {
          requests.push(data);
          port1.postMessage({ progress: { done: 1, total: 2 } });
          port1.postMessage(
            requests.length === 1 ? { passages: { ...passages, text: 'page' } } : { refused: { code: 'INVALID_PARAMS', message: 'empty' } },
          );
        };
        return port2;
      },
      stop: async () => {},
    });
    const seen: ReadProgress[] = [];
    expect((await documents.readPassages(split, open, (progress) => seen.push(progress))).text).toBe('page');
    expect(seen).toEqual([{ done: 1, total: 2 }]);
    expect(requests).toEqual([{ split }]);
    await expect(documents.readPassages(split, open)).rejects.toMatchObject({ code: 'INVALID_PARAMS', message: 'empty' });
  });

  verifies('office/ocr', 'a worker that says it is working has more time than one read', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      const port = Promise.withResolvers<MessagePort>();
      const pages = new PageWorkers();
      const documents = new PageDocumentReader(pages, fallbackReader);
      pages.add('page', {
        async start() {
          const { port1, port2 } = new MessageChannel();
          port1.start();
          port.resolve(port1);
          return port2;
        },
        stop: async () => {},
      });
      const read = documents.read(request, open);
      const worker = await port.promise;
      await new Promise<unknown>((resolve) => (worker.onmessage = resolve));
      /** Earlier messages have arrived by the time that a later one could. */
      const arrived = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve));
      for (let time = 0; time < 5; time++) {
        await vi.advanceTimersByTimeAsync(50_000);
        worker.postMessage('working');
        await arrived();
      }
      worker.postMessage({ text: { text: 'done' } });
      expect(await read).toEqual({ text: 'done' });
    } finally {
      vi.useRealTimers();
    }
  });
});
