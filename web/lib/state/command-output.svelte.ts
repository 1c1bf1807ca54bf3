import type { EventPayload } from '#shared/rpc/events.ts';
import { gateway } from '#lib/gateway/gateway-connection.svelte.ts';

type OutputChunk = EventPayload<'exec.output'>;

/** The newest that is shown of what a command writes, UTF-16 units: all of it is in the answer. */
const MAX_CHARS = 8_000;

/** Output of a tool call's running command, in order. */
export class CommandOutput {
  text = $state('');
  readonly #runId: string;
  readonly #toolCallId: string;
  #id: string | undefined;
  /** Requests that are not this one's. */
  readonly #otherIds = new Set<string>();
  /** Read so far of each kind. */
  #readLengths = { stdout: 0, stderr: 0 };
  /** Pieces that arrive while the output is read from the start. */
  #chunks: OutputChunk[] | undefined;

  constructor(runId: string, toolCallId: string) {
    this.#runId = runId;
    this.#toolCallId = toolCallId;
  }

  /** Follows it until the result is called. */
  watch(): () => void {
    void this.#readAll();
    return gateway.on('exec.output', (piece) => this.#onOutput(piece));
  }

  #onOutput(piece: OutputChunk): void {
    const { requestId, stream, text, offset } = piece;
    if (this.#otherIds.has(requestId)) return;
    if (this.#chunks) return void this.#chunks.push(piece);
    const read = this.#readLengths[stream];
    if (requestId !== this.#id || offset > read) return void this.#readAll();
    if (offset + text.length <= read) return;
    this.#readLengths[stream] = offset + text.length;
    this.text = (this.text + text.slice(read - offset)).slice(-MAX_CHARS);
  }

  async #readAll(): Promise<void> {
    const pieces: OutputChunk[] = (this.#chunks = []);
    // Without it the answer still comes, at the end.
    await this.#load().catch(() => {});
    this.#chunks = undefined;
    if (this.#id !== undefined) for (const piece of pieces) if (piece.requestId === this.#id) this.#onOutput(piece);
  }

  async #load(): Promise<void> {
    if (this.#id === undefined) {
      const { requests } = await gateway.call('exec.list', {});
      this.#id = requests.find(({ runId, toolCallId }) => runId === this.#runId && toolCallId === this.#toolCallId)?.requestId;
      for (const { requestId } of requests) if (requestId !== this.#id) this.#otherIds.add(requestId);
      if (this.#id === undefined) return;
    }
    const { stdout = '', stderr = '' } = (await gateway.call('exec.get', { requestId: this.#id })).request;
    this.#readLengths = { stdout: stdout.length, stderr: stderr.length };
    this.text = (stdout + stderr).slice(-MAX_CHARS);
  }
}
