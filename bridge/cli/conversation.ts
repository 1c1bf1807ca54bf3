import { ConnectionClosed, type GatewayClient } from '#shared/client/client.ts';
import type { Approval } from '#shared/rpc/methods/approval-contracts.ts';
import type { MethodResult } from '#shared/rpc/methods/index.ts';
import type { Usage } from '#shared/rpc/record-schemas.ts';
import { toCallError, callGateway } from './connect-gateway.ts';

interface ConversationOptions {
  sessionId: string;
  agentId: string;
  model?: string;
}

/** Events while a reply is generated. */
export interface ReplyEvents {
  text(delta: string): void;
  tool(name: string, args: Record<string, unknown>): void;
  /** A tool needs the user's approval. `signal` is aborted if it was decided elsewhere or the run has ended. */
  approval(approval: Approval, signal: AbortSignal): void;
}

interface ChatReply {
  sessionId: string;
  runId: string;
  messageId: string;
  text: string;
  usage: Usage;
}

/** A session with one agent on a terminal. A lost connection is restored for the next message. */
export class Conversation {
  readonly talk: ConversationOptions;
  readonly #dial: () => Promise<GatewayClient>;
  #client: GatewayClient | undefined;

  constructor(talk: ConversationOptions, dial: () => Promise<GatewayClient>) {
    this.talk = talk;
    this.#dial = dial;
  }

  /** Throws a CommandError if there is no gateway. */
  async connect(): Promise<GatewayClient> {
    if (this.#client) return this.#client;
    const client = await this.#dial();
    void client.closed.then(() => {
      if (this.#client === client) this.#client = undefined;
    });
    return (this.#client = client);
  }

  /** Sends a message and resolves when the reply is complete. Throws a CommandError if it fails or is aborted. */
  async send(message: string, hearing: ReplyEvents): Promise<ChatReply> {
    const client = await this.connect();
    const { sessionId, agentId } = this.talk;
    const ended = new AbortController();
    const waiting = new Map<string, AbortController>();
    let runId: string | undefined;
    let text = '';
    const isOurs = (event: { sessionId: string; agentId: string; runId: string }): boolean =>
      event.sessionId === sessionId && event.agentId === agentId && event.runId === runId;
    const stops = [
      // Others may use the same session: find the run started by our message.
      client.on('chat.message', (event) => {
        if (runId === undefined && event.sessionId === sessionId && event.agentId === agentId && event.content === message)
          runId = event.runId;
      }),
      client.on('chat.delta', (event) => {
        if (!isOurs(event)) return;
        text += event.delta;
        hearing.text(event.delta);
      }),
      client.on('chat.tool_call', (event) => {
        if (isOurs(event)) hearing.tool(event.tool, event.args);
      }),
      client.on('approval.requested', ({ approval }) => {
        if (approval.runId === null || approval.runId !== runId || waiting.has(approval.id)) return;
        const settled = new AbortController();
        waiting.set(approval.id, settled);
        hearing.approval(approval, AbortSignal.any([settled.signal, ended.signal]));
      }),
      client.on('approval.resolved', ({ approval }) => waiting.get(approval.id)?.abort()),
    ];
    let result: MethodResult<'chat.send'>;
    try {
      result = await client.call('chat.send', { message, ...this.talk });
    } catch (error) {
      throw toCallError(error, 'chat.send');
    } finally {
      ended.abort();
      for (const stop of stops) stop();
    }
    return { sessionId: result.sessionId, runId: result.runId, messageId: result.messageId, text, usage: result.usage };
  }

  /** Aborts the current reply and keeps what there is of it. */
  async abort(): Promise<void> {
    const { sessionId, agentId } = this.talk;
    await this.#client?.call('chat.abort', { sessionId, agentId }).catch((error: unknown) => {
      if (!(error instanceof ConnectionClosed)) throw toCallError(error, 'chat.abort');
    });
  }

  async resolve(id: string, decision: 'approve' | 'deny', isAlways: boolean): Promise<void> {
    await callGateway(await this.connect(), 'approvals.resolve', { id, decision, always: isAlways });
  }

  close(): void {
    this.#client?.close();
  }
}
