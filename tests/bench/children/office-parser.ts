// A separate thread: two versions of pdf.js can't be used in one realm.
import { parentPort } from 'node:worker_threads';
import { OfficeParser } from 'officeparser';

parentPort?.on('message', (bytes: Uint8Array) => {
  OfficeParser.parseOffice(Buffer.from(bytes))
    .then((ast) => ast.to('text'))
    .then(
      ({ value }) => parentPort?.postMessage(String(value)),
      () => parentPort?.postMessage(''),
    );
});
