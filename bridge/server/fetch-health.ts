import { type BridgeHealth, bridgeHealth } from '#shared/link/link-credentials.ts';
import { request } from '../node-http.ts';

const MAX_RESPONSE_CHARS = 10_000;

interface HealthRequest {
  /** IP address. */
  host: string;
  port: number;
  /** `Host` header; defaults to the address. */
  hostHeader?: string;
  signal: AbortSignal;
}

/** Requests a gateway's `GET /health`. Undefined if nothing or something else answers. Never rejects. */
export function fetchHealth({ host, port, hostHeader, signal }: HealthRequest): Promise<BridgeHealth | undefined> {
  return new Promise((resolve) => {
    const healthRequest = request({
      port,
      host,
      path: '/health',
      headers: { host: hostHeader ?? `${host.includes(':') ? `[${host}]` : host}:${port}` },
      agent: false,
      signal,
    });
    healthRequest.on('error', () => resolve(undefined));
    healthRequest.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('error', () => resolve(undefined));
      response.on('data', (part: string) => {
        text += part;
        if (text.length > MAX_RESPONSE_CHARS) response.destroy(new Error('health response too long'));
      });
      response.on('end', () => {
        try {
          resolve(bridgeHealth.parse(JSON.parse(text)));
        } catch {
          resolve(undefined);
        }
      });
    });
    healthRequest.end();
  });
}
