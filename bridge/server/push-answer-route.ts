import type { FastifyInstance } from 'fastify';
import { fetchOverStream } from '#shared/link/stream-http.ts';
import { MIN_HEAD_HEADER } from '#shared/ports/journal-streams.ts';
import { pushAnswer } from '#shared/ports/push-port.ts';
import { PUSH_ANSWER_PATH } from '#shared/push-answer-path.ts';
import { toAdmissionRequest } from './admission.ts';
import type { AuthLimiter } from './auth-limiter.ts';
import { createErrorBody } from './http-errors.ts';
import { NO_HOST } from './api-listener.ts';
import type { VaultRegistry } from './vault-registry.ts';

const MAX_BODY_BYTES = 1024;
const HOST_RESPONSE_MS = 20_000;
const RETRY_MS = 2000;
/** Principal of an answer, which is authorized by the button's value only. */
const ANSWER_PRINCIPAL = 'push';

/**
 * `POST /push/answer {value}`: the app's service worker reports the button of a notification that was pressed, and the active host decides.
 * Needs no credential, which a service worker does not have: only the notified device knows the value. Wrong ones are limited.
 */
export function registerPushAnswerRoute(app: FastifyInstance, { vaults, limiter }: { vaults: VaultRegistry; limiter: AuthLimiter }): void {
  app.post(PUSH_ANSWER_PATH, { bodyLimit: MAX_BODY_BYTES }, async (request, reply) => {
    reply.header('cache-control', 'no-store');
    const refuse = (status: number, message: string, retryMs = 0) => {
      if (retryMs > 0) reply.header('retry-after', `${Math.ceil(retryMs / 1000)}`);
      return reply.code(status).send(createErrorBody(status, message));
    };
    const { name, admission, hosts, shared, exchanges, log } = vaults.byHost(request.raw);
    const { origin } = request.headers;
    if (origin === undefined || origin !== admission.appOrigin(toAdmissionRequest(request.raw)))
      return refuse(403, 'Only the app can answer notifications');
    const body = pushAnswer.safeParse(request.body);
    if (!body.success) return refuse(400, 'The body must be JSON with the value of a button');
    const attempts = `notification buttons${name && ` of ${name}`}`;
    const lockedMs = limiter.locked(attempts);
    if (lockedMs > 0) return refuse(429, 'Too many unknown buttons. Open Perch to decide.', lockedMs);
    const release = exchanges.begin();
    try {
      const mux = hosts.current ?? (await hosts.wait(shared.timing.hostWaitMs, AbortSignal.timeout(HOST_RESPONSE_MS)));
      if (!mux) return refuse(503, NO_HOST, RETRY_MS);
      const headers = { ':path': PUSH_ANSWER_PATH, 'content-type': 'application/json', [MIN_HEAD_HEADER]: String(shared.journal.head) };
      const answer = await fetchOverStream(
        mux,
        { kind: 'http', principal: ANSWER_PRINCIPAL, headers },
        { method: 'POST', body: JSON.stringify(body.data), signal: AbortSignal.timeout(HOST_RESPONSE_MS) },
      );
      const text = await answer.text();
      if (answer.status === 404) limiter.fail(attempts);
      return await reply.code(answer.status).header('content-type', 'application/json; charset=utf-8').send(text);
    } catch (error) {
      log(`Couldn’t pass on the answer to a notification: ${error instanceof Error ? error.message : String(error)}`);
      return await refuse(503, NO_HOST, RETRY_MS);
    } finally {
      release();
    }
  });
}
