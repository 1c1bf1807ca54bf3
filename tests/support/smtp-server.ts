import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';

/** A fault at a step of sending: an SMTP response, or a lost connection before or after (`accepted`) the mail was accepted. */
type SmtpFault = { step: 'auth' | 'mail' | 'rcpt' | 'data'; code: number; text: string } | { cut: 'before' | 'accepted' };

interface SentMail {
  from: string;
  to: string[];
  source: string;
  /** Parameters of `MAIL FROM` and `RCPT TO` about reports (RFC 3461). */
  envid: string;
  notify: string[];
}

interface SmtpServerOptions {
  user: string;
  password: string;
  token?: string;
  /** TLS from the start, with the certificate that the library brings. */
  secure?: boolean;
  /** Address that it listens on. */
  host?: string;
  /** Maximum bytes of a mail. */
  maxSize?: number;
}

/** An SMTP server for one account, with faults on demand. */
export async function startSmtpServer({ user, password, token = '', secure = false, host = '127.0.0.1', maxSize }: SmtpServerOptions) {
  const sent: SentMail[] = [];
  const state: { fault: () => SmtpFault | undefined } = { fault: () => undefined };
  const fail = (step: string): Error | undefined => {
    const fault = state.fault();
    return fault && 'step' in fault && fault.step === step ? Object.assign(new Error(fault.text), { responseCode: fault.code }) : undefined;
  };
  const sockets = new Set<Socket>();
  const server = new SMTPServer({
    ...{
      secure,
      authOptional: false,
      allowInsecureAuth: true,
      hideSTARTTLS: true,
      disabledCommands: ['STARTTLS'],
      hideDSN: false,
      authMethods: ['PLAIN', 'XOAUTH2'],
      disableReverseLookup: true,
    },
    ...(maxSize === undefined ? {} : { size: maxSize }),
    onAuth: ({ method, username, password: given, accessToken }, _session, done) => {
      const isRight = username === user && (method === 'XOAUTH2' ? token !== '' && accessToken === token : given === password);
      const fault = fail('auth');
      if (fault) return done(fault);
      if (isRight) return done(null, { user });
      done(Object.assign(new Error('5.7.8 Username and password not accepted'), { responseCode: 535 }));
    },
    onMailFrom: (_address, _session, done) => done(fail('mail')),
    onRcptTo: (_address, _session, done) => done(fail('rcpt')),
    onData: (stream, { envelope }, done) => {
      void buffer(stream).then((source) => {
        const fault = state.fault();
        if (fault && 'cut' in fault && fault.cut === 'before') return sockets.forEach((socket) => socket.destroy());
        const error = fail('data');
        if (error) return done(error);
        const { mailFrom, rcptTo, dsn } = envelope;
        sent.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          source: source.toString(),
          envid: dsn?.envid ?? '',
          notify: rcptTo.flatMap((recipient) => recipient.dsn?.notify ?? []),
        });
        if (fault && 'cut' in fault) return sockets.forEach((socket) => socket.destroy());
        done(null, 'accepted');
      });
    },
  });
  server.on('error', () => {});
  server.server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, host);
  await once(server.server, 'listening');
  return Object.assign(state, {
    sent,
    port: (server.server.address() as AddressInfo).port,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  });
}
