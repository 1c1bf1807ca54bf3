import type { Link } from '#shared/link/link.ts';
import type { EventFrame, ResponseFrame } from '#shared/rpc/frames.ts';
import { type TestGateway, waitFor } from './test-gateway.ts';

/** A connection whose frames the test writes itself. */
interface RawConnection {
  link: Link<string>;
  frames: (ResponseFrame | EventFrame)[];
  closed: { code: number; reason: string } | null;
  send(frame: unknown): void;
  waitForResponse(id: string): Promise<ResponseFrame>;
}

export function openRawConnection(gw: TestGateway, options?: Parameters<TestGateway['link']>[0]): RawConnection {
  const link = gw.link(options);
  const self: RawConnection = {
    link,
    frames: [],
    closed: null,
    send: (frame) => link.send(typeof frame === 'string' ? frame : JSON.stringify(frame)),
    async waitForResponse(id) {
      const found = (): ResponseFrame | undefined =>
        self.frames.find((frame): frame is ResponseFrame => frame.type === 'res' && frame.id === id);
      await waitFor(() => found() !== undefined, `an answer to ${id}`);
      return found() as ResponseFrame;
    },
  };
  link.receive({
    message: (text) => self.frames.push(JSON.parse(text) as ResponseFrame),
    close: (code, reason) => (self.closed = { code, reason }),
  });
  return self;
}

/** The first frame. */
export const CONNECT_FRAME = { type: 'req', id: 'c', method: 'connect', params: { minProtocol: 3, maxProtocol: 3, clientName: 'raw' } };

export async function openConnectedRaw(
  gw: TestGateway,
  options?: Parameters<TestGateway['link']>[0],
  params: object = {},
): Promise<RawConnection> {
  const self = openRawConnection(gw, options);
  self.send({ ...CONNECT_FRAME, params: { ...CONNECT_FRAME.params, ...params } });
  const { ok } = await self.waitForResponse('c');
  if (!ok) throw new Error('it did not connect');
  return self;
}

let requestCount = 0;

/** Sends a request whose `params` are verbatim JSON. */
export async function sendRawRequest(gw: TestGateway, method: string, params: string, protocol = 3): Promise<ResponseFrame> {
  const self = openRawConnection(gw);
  const id = `raw-${++requestCount}`;
  self.send({ ...CONNECT_FRAME, params: { minProtocol: protocol, maxProtocol: protocol } });
  self.send(`{"type":"req","id":"${id}","method":"${method}","params":${params}}`);
  return self.waitForResponse(id).finally(() => self.link.close());
}
