import { GatewayClient } from '#shared/client/client.ts';
import type { MethodParams } from '#shared/rpc/methods/index.ts';
import { type TestGateway, createScriptedModel, createTestGateway, waitFor } from '../../support/test-gateway.ts';
import { ObedientModel, type ModelStep } from './obedient-model.ts';
import { OutsideWorld, SEARCH_URL } from './fake-ports.ts';

type Attachment = { filename: string; mimeType: string; content: string };

/** The owner's decision on an approval. */
export type Decide = (tool: string, summary: string) => 'deny' | 'approve';

/** A gateway with its owner, a scripted model and the simulated outside world. */
export class World {
  readonly outside: OutsideWorld;
  readonly model: ObedientModel;
  readonly gw: TestGateway;
  readonly client: GatewayClient;
  /** Requested approvals. */
  readonly approvalRequests: { tool: string; outside: readonly string[] }[] = [];

  /** Runs after the gateway has closed. */
  readonly cleanups: (() => unknown)[] = [];

  private constructor(outside: OutsideWorld, model: ObedientModel, gw: TestGateway, client: GatewayClient) {
    this.outside = outside;
    this.model = model;
    this.gw = gw;
    this.client = client;
  }

  /** `policies`: tool policies of the owner's settings; by default everything is allowed, so that only provenance protects. */
  static async open({
    policies = { '*': 'auto' },
    decide = () => 'deny',
    outside = new OutsideWorld(),
    model = new ObedientModel(),
    ...options
  }: {
    policies?: Record<string, string>;
    decide?: Decide;
    outside?: OutsideWorld;
    model?: ObedientModel;
  } & Omit<NonNullable<Parameters<typeof createTestGateway>[0]>, 'model' | 'bridge'> = {}): Promise<World> {
    const fetch = outside.createFetch(createScriptedModel(model.script).fetch);
    const gw = await createTestGateway({ ...options, bridge: outside.bridge, fetch });
    const world = await World.on(gw, outside, model, decide);
    const webSearch = { provider: 'searxng', url: SEARCH_URL };
    await world.client.call('config.patch', { patch: { tools: { policies, webSearch } } });
    return world;
  }

  /** Connects to an existing gateway as its owner. */
  static async on(gw: TestGateway, outside: OutsideWorld, model: ObedientModel, decide: Decide = () => 'deny'): Promise<World> {
    const { client } = await gw.client();
    const world = new World(outside, model, gw, client);
    client.on('approval.requested', ({ approval: { id, tool, summary, outside: sources = [] } }) => {
      world.approvalRequests.push({ tool, outside: sources });
      void client.call('approvals.resolve', { id, decision: decide(tool, summary) }).catch(() => {});
    });
    return world;
  }

  /** Sends a message. The model performs these steps unless it obeys an order. */
  async chat(
    message: string,
    steps: readonly ModelStep[] = [],
    { session = 'main', attachments = [] as Attachment[] } = {},
  ): Promise<void> {
    this.model.ownerRequests.splice(0, Infinity, ...steps);
    await this.client.call('chat.send', { sessionId: session, message, ...(attachments.length > 0 ? { attachments } : {}) });
    this.model.ownerRequests.splice(0);
  }

  /** Adds a job with a grant and runs it once. The model performs these steps unless it obeys an order. */
  async runJob(message: string, steps: readonly ModelStep[], grant?: MethodParams<'cron.add'>['outsideGrant']): Promise<void> {
    const { client, model } = this;
    const { jobId } = await client.call('cron.add', { cron: '0 9 * * *', message, ...(grant ? { outsideGrant: grant } : {}) });
    model.ownerRequests.splice(0, Infinity, ...steps);
    await client.call('cron.run', { id: jobId });
    await waitFor(
      async () => (await client.call('cron.history', { jobId })).records.some(({ status }) => status !== 'running'),
      'the end of the job',
    );
    model.ownerRequests.splice(0);
  }

  /** Adds the MCP server `mail` and waits until it is ready. */
  async startMcp(): Promise<void> {
    await this.client.call('config.set', { key: 'tools.mcpServers.mail', value: { command: 'mail' } });
    await this.findMcp();
  }

  /** Resolves when the MCP servers of the settings are ready. */
  async findMcp(): Promise<void> {
    await waitFor(async () => (await this.client.call('mcp.list', {})).servers.every(({ state }) => state === 'ready'), 'the MCP server');
  }

  /** Connects a client with a program's key and all scopes. */
  async program(): Promise<GatewayClient> {
    const { key } = await this.client.call('keys.create', { name: 'Script', scopes: ['read', 'write'] });
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
    for (const cleanUp of this.cleanups) await cleanUp();
  }
}
