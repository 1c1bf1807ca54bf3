import { chosen } from './requirement.ts';

/** Several bridges of one vault, of which any takes any client (docs/decisions/0069). */
export const cluster = [
  chosen('decision 0069', {
    'cluster.links/streams': 'Bridges of a vault carry streams to each other over NATS: text, bytes, ends and resets, whatever their size',
    'cluster.links/sealed':
      'Who is in the NATS account without the vault’s key reads nothing of a link; what is put in, played back or left out ends it',
    'cluster.links/dialling': 'Who has not the vault’s key gets no link, also not by what others have said when they dialled',
    'cluster.links/ends': 'A link ends with its connection to NATS, and where the other bridge falls silent',
    'cluster.links/slow': 'A reader that takes nothing costs its streams’ credit at the most, and holds no other stream up',
  }),
];
