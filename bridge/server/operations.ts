import type { FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import { allows } from '#shared/rpc/contract.ts';
import type { Journal } from '../journal/journal.ts';
import { type Auth, bearerOf } from './auth.ts';
import type { Clients } from './clients.ts';
import type { Gauge } from './gauge.ts';
import { denialOf, errorBody } from './http-errors.ts';
import type { Hosts } from './hosts.ts';

export interface OperationsDeps {
  auth: Auth;
  hosts: Hosts;
  clients: Clients;
  journal: Pick<Journal, 'head'>;
  /** Exchanges of `/v1` and `/mcp`. */
  exchanges: Gauge;
  /** How many answers of these had which status. */
  answers: ReadonlyMap<number, number>;
  about: Readonly<Record<'version' | 'build' | 'mode', string>>;
  /** What else is told, by whoever is part of this bridge beside it. */
  figures: readonly Figure[];
}

/** A figure for Prometheus, read when it is asked for. */
export interface Figure {
  name: string;
  help: string;
  read(): number;
}

/**
 * For those who run bridges: `/ready` is 200 while a host serves, else 503; `/metrics` tells a caller with the scope `read` what Prometheus collects
 * (docs/decisions/0066).
 */
export function operationsRoutes(app: FastifyInstance, deps: OperationsDeps): void {
  const { auth, hosts } = deps;
  let registry: Promise<Registry> | undefined;

  app.get('/ready', async (_request, reply) => {
    reply.header('cache-control', 'no-store');
    if (hosts.holder) return { status: 'ready', host: hosts.kind };
    return reply.code(503).header('retry-after', '2').send(errorBody(503, 'no gateway is running: requests would wait for one'));
  });

  app.get('/metrics', async (request, reply) => {
    reply.header('cache-control', 'no-store');
    const verdict = auth.checkBearer(bearerOf(request.headers.authorization), request.headers.origin);
    if (!verdict.ok) {
      const { status, headers } = denialOf(verdict);
      return reply.code(status).headers(headers).send(errorBody(status, verdict.message));
    }
    if (!allows(verdict.scopes, 'read')) return reply.code(403).send(errorBody(403, 'needs the scope read'));
    // Most bridges are never asked.
    const metrics = await (registry ??= registryOf(deps));
    return reply.type(metrics.contentType).send(await metrics.metrics());
  });
}

/** All are read when they are asked for: nothing is kept twice. */
async function registryOf({ hosts, clients, journal, exchanges, answers, about, figures }: OperationsDeps): Promise<Registry> {
  const { collectDefaultMetrics, Counter, Gauge, Registry } = await import('prom-client');
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
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
    help: 'Version, build and mode of this bridge; always 1.',
    registers,
    labelNames: Object.keys(about),
  }).set(about, 1);
  gauge('perch_serving', '1 while a host serves, else 0.', () => (hosts.holder ? 1 : 0));
  gauge('perch_hosts', 'Hosts that are attached, the one that serves among them.', () => hosts.size);
  gauge('perch_clients', 'WebSocket clients that are connected.', () => clients.size);
  gauge('perch_clients_unsent_bytes', 'Bytes held for clients that have not taken them yet.', () => clients.unsent);
  gauge('perch_http_requests_under_way', 'Requests of /v1 and /mcp under way.', () => exchanges.count);
  gauge('perch_journal_head', 'The newest sequence number of the journal.', () => journal.head);
  for (const { name, help, read } of figures) gauge(name, help, read);
  new Counter({
    name: 'perch_http_requests_total',
    help: 'Requests of /v1 and /mcp that have ended, by the status of their answers.',
    labelNames: ['code'],
    registers,
    collect() {
      this.reset();
      for (const [code, count] of answers) this.inc({ code }, count);
    },
  });
  return registry;
}
