import { type BridgeHealth, bridgeHealth } from '#shared/link/proof.ts';
import { request } from '../node-http.ts';

const MAX_CHARS = 10_000;

export interface AskedForHealth {
  /** An IP address. */
  host: string;
  port: number;
  /** By what name it is asked; the address's own where left out. */
  hostHeader?: string;
  signal: AbortSignal;
}

/** What a gateway answers to `GET /health`; undefined where nothing answers, or something that is no gateway. Never rejects. */
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
