import { setTimeout as sleep } from 'node:timers/promises';
import { SocketCaller } from './caller.ts';

/** The host is ready once a page has connected. */
export async function connectCaller(url: string, token: string): Promise<SocketCaller> {
  for (let tries = 0; ; tries++) {
    try {
      return await SocketCaller.connect(url, token);
    } catch (error) {
      if (tries > 50) throw error;
      await sleep(200);
    }
  }
}
