import { request } from 'node:http';
import { text } from 'node:stream/consumers';

/** Sends a request like a browser's navigation; Node's `fetch` identifies itself as a script. Does not follow redirects. */
export const navigate = (
  url: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<Response> =>
  new Promise((resolve, reject) => {
    request(url, { method, headers }, async (response) => {
      const head = Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)]);
      resolve(new Response(await text(response), { status: response.statusCode ?? 0, headers: head }));
    })
      .on('error', reject)
      .end();
  });
