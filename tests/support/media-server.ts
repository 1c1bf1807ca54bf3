import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that a media server received. */
interface MediaRequest {
  path: string;
  authorization: string | undefined;
  json: Record<string, unknown> | undefined;
  form: FormData | undefined;
  /** Resolves with whether the caller disconnected before the answer was complete. */
  isAborted: Promise<boolean>;
}

export type MediaHandler = (request: MediaRequest, response: ServerResponse) => void | Promise<void>;

/** A local server in OpenAI's format. `answers`: response of each path; other paths return 404. */
export async function startMediaServer(answers: Record<string, MediaHandler>) {
  const requests: MediaRequest[] = [];
  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = incoming.url ?? '';
    if (path === '/v1/models') return void response.end(JSON.stringify({ object: 'list', data: [{ id: 'chatty', object: 'model' }] }));
    const left = new Promise<boolean>((resolve) => response.once('close', () => resolve(!response.writableFinished)));
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part as Buffer);
    const type = incoming.headers['content-type'] ?? '';
    const bytes = Buffer.concat(parts);
    const isForm = type.startsWith('multipart/form-data');
    const request: MediaRequest = {
      ...{ path, authorization: incoming.headers.authorization, isAborted: left },
      json: isForm ? undefined : (JSON.parse(bytes.toString()) as Record<string, unknown>),
      form: isForm ? await new Response(bytes, { headers: { 'content-type': type } }).formData() : undefined,
    };
    requests.push(request);
    const answer = Object.hasOwn(answers, path) ? answers[path] : undefined;
    if (answer) return answer(request, response);
    response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":{"message":"no such address"}}');
  };
  const server = createServer((incoming, response) => {
    serve(incoming, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    answers,
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

export const sendJson = (response: ServerResponse, value: unknown, status = 200): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
