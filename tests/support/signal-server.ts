import type { ServerResponse } from 'node:http';
import { type PlatformRequest, startPlatformServer } from './platform-server.ts';

export const SIGNAL_ACCOUNT = '+15550001111';
export const ADA = { sourceNumber: '+491701111111', sourceUuid: '11111111-aaaa-4aaa-8aaa-111111111111', sourceName: 'Ada' };

interface SentMessage {
  timestamp: number;
  message?: string;
  recipient?: string[];
  groupId?: string;
  attachments?: string[];
  editTimestamp?: number;
  [name: string]: unknown;
}

/** A local server that responds like the daemon of signal-cli (`signal-cli daemon --http`). */
export async function startSignalServer(now: () => number, { numbersEvents = true } = {}) {
  const sent: SentMessage[] = [];
  const reactions: string[] = [];
  const typing: object[] = [];
  const attachments = new Map<string, string>();
  /** `error`: of the next calls of `send`. `result`: type of the results of `send`. */
  const options: { error: { code: number; message: string } | undefined; result: string } = { error: undefined, result: 'SUCCESS' };
  const streams = new Set<ServerResponse>();
  /** Events of the time without a client, as with `--receive-mode=on-connection`. */
  const waiting: object[] = [];
  /** All events that clients were sent, by number. */
  const kept: object[] = [];
  let lastTimestamp = 0;
  const createTimestamp = (): number => (lastTimestamp = Math.max(lastTimestamp + 1, now()));
  const emit = (envelope: object): void => {
    const event = { envelope, account: SIGNAL_ACCOUNT };
    if (streams.size === 0) waiting.push(event);
    else writeEvent(event);
  };
  const toEvent = (event: object, number: number): string =>
    `event:receive\n${numbersEvents ? `id:${number}\n` : ''}data:${JSON.stringify(event)}\n\n`;
  const writeEvent = (event: object): void => {
    kept.push(event);
    for (const stream of streams) stream.write(toEvent(event, kept.length));
  };
  const methods: Record<string, (params: Record<string, never>) => object> = {
    send: (params) => {
      if (options.error) return { error: options.error };
      const timestamp = createTimestamp();
      sent.push({ ...params, timestamp });
      return { result: { timestamp, results: [{ type: options.result }] } };
    },
    sendReaction: ({ emoji, targetTimestamp, remove }) => {
      reactions.push(`${remove ? 'remove' : 'add'} ${String(emoji)} ${String(targetTimestamp)}`);
      return { result: {} };
    },
    sendTyping: (params) => {
      typing.push(params);
      return { result: {} };
    },
    getAttachment: ({ id }) => {
      const data = attachments.get(String(id));
      return data === undefined ? { error: { code: -1, message: 'Attachment not found' } } : { result: { data } };
    },
  };
  const server = await startPlatformServer(({ path, body, headers: requestHeaders }: PlatformRequest) => {
    if (path === '/api/v1/events')
      return {
        headers: { 'content-type': 'text/event-stream' },
        stream: (response) => {
          response.write(':\n\n');
          streams.add(response);
          response.on('close', () => streams.delete(response));
          const last = requestHeaders['last-event-id'];
          if (typeof last === 'string')
            kept.slice(Number(last)).forEach((event, index) => response.write(toEvent(event, Number(last) + index + 1)));
          waiting.splice(0).forEach(writeEvent);
        },
      };
    if (path !== '/api/v1/rpc') return { status: 404, json: {} };
    const { id, method, params } = JSON.parse(body.toString()) as { id: string; method: string; params: Record<string, never> };
    const answer = methods[method]?.(params) ?? { error: { code: -32601, message: 'Method not implemented' } };
    return { json: { jsonrpc: '2.0', ...answer, id } };
  });
  return Object.assign(server, {
    ...{ options, sent, reactions, typing, attachments, emit },
    streamCount: () => streams.size,
    /** A message of a user. Returns its timestamp. */
    write(message: string, { from = ADA, ...more }: Record<string, unknown> & { from?: object } = {}): number {
      const timestamp = createTimestamp();
      emit({ ...from, timestamp, dataMessage: { timestamp, message, ...more } });
      return timestamp;
    },
    edit(targetSentTimestamp: number, message: string): void {
      const timestamp = createTimestamp();
      emit({ ...ADA, timestamp, editMessage: { targetSentTimestamp, dataMessage: { timestamp, message } } });
    },
    receive(timestamps: number[], state: 'isDelivery' | 'isRead'): void {
      emit({ ...ADA, receiptMessage: { when: now(), isDelivery: false, isRead: false, isViewed: false, [state]: true, timestamps } });
    },
    /** Ends all streams. */
    cut(): void {
      for (const stream of streams) stream.destroy();
    },
  });
}
