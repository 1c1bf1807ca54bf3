import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Registry } from 'prom-client';
import { allowsScope } from '#shared/rpc/contract.ts';
import type { BridgeHealth } from '#shared/link/link-credentials.ts';
import { toAdmissionRequest } from './admission.ts';
import { getBearerToken } from './auth.ts';
import type { ClientSockets } from './clients.ts';
import { toDenialResponse, createErrorBody } from './http-errors.ts';
import type { HostMode } from './host-rank.ts';
import type { Vault } from './serve-vault.ts';
import type { VaultRegistry } from './vault-registry.ts';

interface OperationsDeps {
  vaults: VaultRegistry;
  clients: ClientSockets;
  about: { version: string; build: string; mode: HostMode };
  /** URLs at which other machines can try to reach the bridge (advertised-urls.ts). */
  reach: readonly string[];
}

/** A Prometheus metric, read on each scrape. */
export interface MetricDefinition {
  name: string;
  help: string;
  read(): number;
}

/**
 * Routes for operators. `/health` reports the active host; `/ready` is 200 while a host is active, else 503; `/metrics` returns Prometheus
 * metrics to callers with the scope `read` (docs/decisions/0066).
 */
export function registerOperationsRoutes(app: FastifyInstance, deps: OperationsDeps): void {
  const { vaults, about, reach } = deps;
  const registries = new Map<Vault, Promise<Registry>>();
  const findVault = (request: FastifyRequest): Vault => vaults.getCandidates(request.raw)?.[0] ?? vaults.first;

  app.get('/health', async (request, reply) => {
    reply.header('cache-control', 'no-store');
    const { name, hosts, admission } = findVault(request);
    return {
      status: hosts.holder ? 'ok' : 'no-host',
      ...about,
      host: hosts.kind,
      hosts: hosts.size,
      ...(reach.length > 0 &&
        admission.isLocal(toAdmissionRequest(request.raw)) && { reach: reach.map((address) => withVaultParam(address, name)) }),
    } satisfies BridgeHealth;
  });

  app.get('/ready', async (request, reply) => {
    reply.header('cache-control', 'no-store');
    const { hosts } = findVault(request);
    if (hosts.holder) return { status: 'ready', host: hosts.kind };
    return reply.code(503).header('retry-after', '2').send(createErrorBody(503, 'No gateway is running. Requests wait until one starts.'));
  });

  app.get('/metrics', async (request, reply) => {
    reply.header('cache-control', 'no-store');
    const token = getBearerToken(request.headers.authorization);
    const vault = vaults.byToken(request.raw, token);
    const verdict = vault.auth.checkBearer(token, request.headers.origin);
    if (!verdict.ok) {
      const { status, headers } = toDenialResponse(verdict);
      return reply.code(status).headers(headers).send(createErrorBody(status, verdict.message));
    }
    if (!allowsScope(verdict.scopes, 'read') && !allowsScope(verdict.scopes, 'status'))
      return reply.code(403).send(createErrorBody(403, 'The scope "status" is required'));
    // Created on first use: most bridges are never scraped.
    const registry = registries.get(vault) ?? createRegistry(vault, deps);
    registries.set(vault, registry);
    const metrics = await registry;
    return reply.type(metrics.contentType).send(await metrics.metrics());
  });
}

/** Adds the vault's name to a URL if needed: no credential identifies the vault of a pairing code. */
const withVaultParam = (address: string, vault: string): string => (vault === '' ? address : `${address}?vault=${vault}`);

/** Creates a vault's metrics. Process metrics belong to the home's own vault. All are read on scrape, so nothing is stored twice. */
async function createRegistry(vault: Vault, { vaults, clients, about }: OperationsDeps): Promise<Registry> {
  const { hosts, journal, exchanges, answers } = vault;
  const { collectDefaultMetrics, Counter, Gauge, Registry } = await import('prom-client');
  const registry = new Registry();
  if (vault === vaults.first) collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const gauge = (name: string, help: string, read: () => number): void => {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  };
  new Gauge({
    name: 'perch_info',
    help: 'Version, build and mode of this bridge. Always 1.',
    registers,
    labelNames: Object.keys(about),
  }).set(about, 1);
  gauge('perch_serving', '1 while a host serves the vault, otherwise 0.', () => (hosts.holder ? 1 : 0));
  gauge('perch_hosts', 'Attached hosts, including the one that serves the vault.', () => hosts.size);
  gauge('perch_clients', 'Connected WebSocket clients.', () => clients.of(vault).size);
  if (vault === vaults.first) gauge('perch_silent_sockets', 'WebSockets that have not sent connect.', () => clients.silent);
  gauge('perch_clients_unsent_bytes', 'Bytes waiting to be sent to clients.', () => clients.of(vault).unsent);
  gauge('perch_http_requests_under_way', 'Requests of /v1 and /mcp in progress.', () => exchanges.count);
  gauge('perch_journal_head', 'Newest sequence number of the journal.', () => journal.head);
  for (const { name, help, read } of vault.shared.figures) gauge(name, help, read);
  new Counter({
    name: 'perch_http_requests_total',
    help: 'Completed requests of /v1 and /mcp, by response status.',
    labelNames: ['code'],
    registers,
    collect() {
      this.reset();
      for (const [code, count] of answers) this.inc({ code }, count);
    },
  });
  return registry;
}
