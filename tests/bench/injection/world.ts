import { GatewayClient } from '#shared/client/client.ts';
import type { EventFrame } from '#shared/rpc/frames.ts';
import { type TestGateway, testGateway, until } from '../../support/gateway.ts';
import { ObedientModel, type Step } from './obedient-model.ts';
import { OutsideWorld } from './fake-ports.ts';

type Attachment = { filename: string; mimeType: string; content: string };

/** How a person decides on approvals. */
export type Decision = 'deny' | 'approve';

/** One gateway with its owner, a scripted model and the world outside. */
export class World {
  readonly outside: OutsideWorld;
  readonly model: ObedientModel;
  readonly gw: TestGateway;
  readonly client: GatewayClient;
  readonly events: EventFrame[];
  /** Approvals that were asked for. */
  readonly asked: { tool: string; outside: readonly string[] }[] = [];

  private constructor(outside: OutsideWorld, model: ObedientModel, gw: TestGateway, client: GatewayClient, events: EventFrame[]) {
    this.outside = outside;
    this.model = model;
    this.gw = gw;
    this.client = client;
    this.events = events;
  }

  /** `policies`: of the owner's settings; by default everything is allowed, so that provenance alone protects. */
  static async open({
    policies = { '*': 'auto' },
    decide = () => 'deny',
    outside = new OutsideWorld(),
    model = new ObedientModel(),
    ...options
  }: {
    policies?: Record<string, string>;
    decide?: (tool: string) => Decision;
    outside?: OutsideWorld;
    model?: ObedientModel;
  } & Omit<NonNullable<Parameters<typeof testGateway>[0]>, 'model' | 'bridge'> = {}): Promise<World> {
    const gw = await testGateway({ ...options, bridge: outside.bridge, model: model.script });
    const { client, events } = await gw.client();
    const world = new World(outside, model, gw, client, events);
    client.on('approval.requested', ({ approval: { id, tool, outside: sources = [] } }) => {
      world.asked.push({ tool, outside: sources });
      void client.call('approvals.resolve', { id, decision: decide(tool) }).catch(() => {});
    });
    await client.call('config.patch', { patch: { tools: { policies } } });
    return world;
  }

  /** Sends a message for which the model makes these steps, unless it obeys an order. */
  async chat(message: string, steps: readonly Step[] = [], { session = 'main', attachments = [] as Attachment[] } = {}): Promise<void> {
    this.model.wishes.splice(0, Infinity, ...steps);
    await this.client.call('chat.send', { sessionId: session, message, ...(attachments.length > 0 ? { attachments } : {}) });
    this.model.wishes.splice(0);
  }

  /** Has the MCP server `mail` ready. */
  async startMcp(): Promise<void> {
    await this.client.call('config.set', { key: 'tools.mcpServers.mail', value: { command: 'mail' } });
    await until(async () => (await this.client.call('mcp.list', {})).servers.some(({ state }) => state === 'ready'), 'the MCP server');
  }

  /** A client with a program's key and all scopes. */
  async program(): Promise<GatewayClient> {
    const { key } = await this.client.call('keys.create', { name: 'Script' });
    return GatewayClient.connect(this.gw.link({ principal: `key:${key.id}` }), { params: { clientName: 'a program' } });
  }

  async files(): Promise<string[]> {
    return (await this.client.call('workspace.list', {})).files.map(({ path }) => path);
  }

  async read(path: string): Promise<string | undefined> {
    return (await this.gw.vault.files.get('main', path))?.content;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.gw[Symbol.asyncDispose]();
    this.outside.bridge.detach();
  }
}
