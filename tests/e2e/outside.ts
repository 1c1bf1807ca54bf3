import { GatewayClient } from '#shared/client/client.ts';
import { socketLink } from '#shared/client/websocket.ts';
import type { Link } from '#shared/link/link.ts';
import type { EventFrame } from '#shared/rpc/frames.ts';
import type { Perch } from './harness.ts';

export interface Outside extends Disposable {
  client: GatewayClient;
  /** All event frames so far. */
  events: EventFrame[];
}

/** A program on the same machine: a real WebSocket, protocol 3, the owner's token. */
export async function connectOutside(perch: Perch, events: 'all' | 'own' = 'own'): Promise<Outside> {
  const got: EventFrame[] = [];
  const inner = socketLink(new WebSocket(perch.wsUrl));
  const tapped: Link<string> = {
    buffered: 0,
    send: (text) => inner.send(text),
    close: (code, reason) => inner.close(code, reason),
    receive: (handlers) =>
      inner.receive({
        ...handlers,
        message(text) {
          const frame = JSON.parse(text) as EventFrame;
          if (frame.type === 'event') got.push(frame);
          handlers.message(text);
        },
      }),
  };
  const client = await GatewayClient.connect(tapped, { params: { clientName: 'outside', auth: { token: perch.token }, events } });
  return { client, events: got, [Symbol.dispose]: () => client.close() };
}

/** Makes the upstream a provider named `local`, and its models usable. */
export async function addProvider(client: GatewayClient, baseUrl: string, apiKey?: string): Promise<void> {
  await client.call('config.patch', { patch: { providers: { local: { name: 'Local', baseUrl, ...(apiKey === undefined ? {} : { apiKey }) } } } });
}
