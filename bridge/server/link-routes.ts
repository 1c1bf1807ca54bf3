import { randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { toBrowserName } from '#shared/link/browser-name.ts';
import type { LinkResult } from '#shared/link/link-credentials.ts';
import { z } from '#shared/rpc/zod.ts';
import { toCommandLine } from '../command-line.ts';
import type { StoredCredential } from '../home-directory.ts';
import { toAdmissionRequest } from './admission.ts';
import { getBearerToken } from './auth.ts';
import { toDenialResponse, createErrorBody } from './http-errors.ts';
import type { VaultRegistry } from './vault-registry.ts';

/** Lifetime of a code issued for `perch open`. */
const OPEN_TTL_MS = 60_000;

const tradeSchema = z.object({ code: z.string().min(1).max(100) });

/** The app's URL with a single-use code in the fragment, which is never sent over the network. */
const createLinkUrl = (origin: string, code: string): string => `${origin}/#link=${code}`;

/**
 * `POST /link {code}`: the app on its own origin trades a single-use code for credentials. `POST /link/code`: the owner, with the token,
 * gets a URL with a new code. A vault's codes are valid only at its own origin, where its pages store the credentials. `remoteAppUrl`: URL of
 * the first vault's app for other machines' browsers; undefined if they can't open it.
 */
export function registerLinkRoutes(app: FastifyInstance, vaults: VaultRegistry, remoteAppUrl: string | undefined): void {
  app.post('/link', { bodyLimit: 4096 }, async (request, reply) => {
    reply.header('cache-control', 'no-store');
    const { origin } = request.headers;
    const { home, admission, auth, codes, log } = vaults.byHost(request.raw);
    if (origin === undefined || origin !== admission.appOrigin(toAdmissionRequest(request.raw))) {
      return reply.code(403).send(createErrorBody(403, 'Only the app can be paired'));
    }
    const body = tradeSchema.safeParse(request.body);
    if (!body.success) return reply.code(400).send(createErrorBody(400, 'The body must be JSON with a code'));
    const redeemed = codes.redeem(body.data.code);
    if (!redeemed) {
      const denial = auth.deny(
        'code',
        origin,
        `This link was already used or has expired. Create a new one with \`${toCommandLine('open')}\`.`,
      );
      const { status, headers } = toDenialResponse(denial);
      return reply.code(status).headers(headers).send(createErrorBody(status, denial.message));
    }
    const called = toBrowserName({ userAgent: request.headers['user-agent'] ?? '' });
    let created: [app: StoredCredential, host: StoredCredential];
    try {
      const name = findFreeName(called, await home.credentials());
      created = [createCredential('app', name), createCredential('host', name)];
      await home.addCredentials(created);
    } catch (error) {
      redeemed.restore();
      log(`Couldn’t pair a browser: ${error instanceof Error ? error.message : String(error)}`);
      return reply.code(500).send(createErrorBody(500, 'Couldn’t store the credential. The link is still valid.'));
    }
    auth.add(created);
    log('Paired a browser');
    return { app: toPublicCredential(created[0]), host: toPublicCredential(created[1]) } satisfies LinkResult;
  });

  app.post('/link/code', { bodyLimit: 4096 }, async (request, reply) => {
    reply.header('cache-control', 'no-store');
    const token = getBearerToken(request.headers.authorization);
    const vault = vaults.byToken(request.raw, token);
    const { admission, auth, codes } = vault;
    const verdict = auth.checkToken(token, request.headers.origin);
    if (!verdict.ok) {
      const { status, headers } = toDenialResponse(verdict);
      return reply.code(status).headers(headers).send(createErrorBody(status, verdict.message));
    }
    const linkTo = (origin: string): string => createLinkUrl(origin, codes.issue(OPEN_TTL_MS));
    const otherOrigin = vault === vaults.first && remoteAppUrl;
    return { url: linkTo(admission.origin), ...(otherOrigin && { elsewhere: linkTo(otherOrigin) }), expiresInMs: OPEN_TTL_MS };
  });
}

/** Returns a unique name for a browser: `Chrome 156 on Linux`, `Chrome 156 on Linux (2)`. */
function findFreeName(called: string, credentials: readonly StoredCredential[]): string {
  const takenNames = new Set(credentials.map(({ name }) => name));
  let name = called;
  for (let nth = 2; takenNames.has(name); nth++) name = `${called} (${nth})`;
  return name;
}

const createCredential = (kind: StoredCredential['kind'], name: string): StoredCredential => ({
  id: `${kind}-${randomBytes(9).toString('base64url')}`,
  secret: randomBytes(32).toString('base64url'),
  kind,
  createdAt: Date.now(),
  name,
});

const toPublicCredential = ({ id, secret }: StoredCredential): { id: string; secret: string } => ({ id, secret });
