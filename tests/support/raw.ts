import type { ResponseFrame } from '#shared/rpc/frames.ts';
import type { TestGateway } from './gateway.ts';

let asked = 0;

/** One request by a program that writes its own JSON: `params` is sent as it stands. */
export async function askRaw(gw: TestGateway, method: string, params: string, protocol = 3): Promise<ResponseFrame> {
  const link = gw.link();
  const id = `raw-${++asked}`;
  const answer = new Promise<ResponseFrame>((resolve, reject) => {
    link.receive({
      message: (text) => {
        const frame = JSON.parse(text) as ResponseFrame;
        if (frame.type === 'res' && frame.id === id) resolve(frame);
      },
      close: (code, reason) => reject(new Error(`closed with ${code} ${reason}`)),
    });
  });
  link.send(JSON.stringify({ type: 'req', id: 'connect', method: 'connect', params: { minProtocol: protocol, maxProtocol: protocol } }));
  link.send(`{"type":"req","id":"${id}","method":"${method}","params":${params}}`);
  return answer.finally(() => link.close());
}
