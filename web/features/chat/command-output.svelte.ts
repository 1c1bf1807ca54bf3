import type { EventPayload } from '#shared/rpc/events.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';

type OutputChunk = EventPayload<'exec.output'>;

/** Maximum length of the shown output, in UTF-16 units; the result has all of it. */
const MAX_CHARS = 8_000;

/** Output of a tool call's running command, in order. */
export class CommandOutput {
  text = $state('');
  readonly #runId: string;
  readonly #toolCallId: string;
  #id: string | undefined;
  /** Requests of other tool calls. */
  readonly #otherIds = new Set<string>();
  /** Length of the output received so far. */
  #receivedLengths = { stdout: 0, stderr: 0 };
  /** Chunks that arrive while the output is loaded from the start. */
  #chunks: OutputChunk[] | undefined;

  constructor(runId: string, toolCallId: string) {
    this.#runId = runId;
    this.#toolCallId = toolCallId;
  }

  /** Follows the output. Returns a function that stops it. */
  watch(): () => void {
    void this.#readAll();
    return gateway.on('exec.output', (chunk) => this.#onOutput(chunk));
  }

  #onOutput(chunk: OutputChunk): void {
    const { requestId, stream, text, offset } = chunk;
    if (this.#otherIds.has(requestId)) return;
    if (this.#chunks) return void this.#chunks.push(chunk);
    const receivedLength = this.#receivedLengths[stream];
    if (requestId !== this.#id || offset > receivedLength) return void this.#readAll();
    if (offset + text.length <= receivedLength) return;
    this.#receivedLengths[stream] = offset + text.length;
    this.text = (this.text + text.slice(receivedLength - offset)).slice(-MAX_CHARS);
  }

  async #readAll(): Promise<void> {
    const chunks: OutputChunk[] = (this.#chunks = []);
    // Best effort: the result at the end has all output.
    await this.#load().catch(() => {});
    this.#chunks = undefined;
    if (this.#id !== undefined) for (const chunk of chunks) if (chunk.requestId === this.#id) this.#onOutput(chunk);
  }

  async #load(): Promise<void> {
    if (this.#id === undefined) {
      const { requests } = await gateway.call('exec.list', {});
      this.#id = requests.find(({ runId, toolCallId }) => runId === this.#runId && toolCallId === this.#toolCallId)?.requestId;
      for (const { requestId } of requests) if (requestId !== this.#id) this.#otherIds.add(requestId);
      if (this.#id === undefined) return;
    }
    const { stdout = '', stderr = '' } = (await gateway.call('exec.get', { requestId: this.#id })).request;
    this.#receivedLengths = { stdout: stdout.length, stderr: stderr.length };
    this.text = (stdout + stderr).slice(-MAX_CHARS);
  }
}
