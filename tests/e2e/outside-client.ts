import { GatewayClient } from '#shared/client/client.ts';
import { socketLink } from '#shared/client/websocket.ts';
import type { EventFrame } from '#shared/rpc/frames.ts';
import { recordEvents } from '../support/record-events.ts';
import type { Perch } from './perch-process.ts';

export interface OutsideClient extends Disposable {
  client: GatewayClient;
  /** All event frames so far. */
  events: EventFrame[];
}

/** A program on the same machine: a real WebSocket, protocol 3, the owner's token. */
export async function connectOutside(perch: Perch, events: 'all' | 'own' = 'own'): Promise<OutsideClient> {
  const got: EventFrame[] = [];
  const client = await GatewayClient.connect(recordEvents(socketLink(new WebSocket(perch.wsUrl)), got), {
    params: { clientName: 'outside', auth: { token: perch.token }, events },
  });
  return { client, events: got, [Symbol.dispose]: () => client.close() };
}

/** Makes the upstream a provider named `local`, and its models usable. */
export async function addProvider(client: GatewayClient, baseUrl: string, apiKey?: string): Promise<void> {
  await client.call('config.patch', {
    // Null takes a stored key away, which another server would not be given.
    patch: {
      providers: { local: { name: 'Local', baseUrl, apiKey: apiKey ?? null } },
      // Its scripted models would take the request for a title for the next message.
      chat: { titles: false },
    },
  });
}
