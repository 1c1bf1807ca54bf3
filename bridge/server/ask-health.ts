import { type BridgeHealth, bridgeHealth } from '#shared/link/proof.ts';
import { request } from '../node-http.ts';

const MAX_CHARS = 10_000;

export interface AskedForHealth {
  /** IP address. */
  host: string;
  port: number;
  /** `Host` header; defaults to the address. */
  hostHeader?: string;
  signal: AbortSignal;
}

/** Requests a gateway's `GET /health`. Undefined if nothing or something else answers. Never rejects. */
export function askForHealth({ host, port, hostHeader, signal }: AskedForHealth): Promise<BridgeHealth | undefined> {
  return new Promise((resolve) => {
    const asked = request({
      port,
      host,
      path: '/health',
      headers: { host: hostHeader ?? `${host.includes(':') ? `[${host}]` : host}:${port}` },
      agent: false,
      signal,
    });
    asked.on('error', () => resolve(undefined));
    asked.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('error', () => resolve(undefined));
      response.on('data', (part: string) => {
        text += part;
        if (text.length > MAX_CHARS) response.destroy(new Error('health response too long'));
      });
      response.on('end', () => {
        try {
          resolve(bridgeHealth.parse(JSON.parse(text)));
        } catch {
          resolve(undefined);
        }
      });
    });
    asked.end();
  });
}
