import { chosenSection } from './requirement.ts';

/** Several bridges of one vault, of which any takes any client (docs/decisions/0069). */
export const cluster = [
  chosenSection('decision 0069', {
    'cluster.links/streams': 'Bridges of a vault carry streams to each other over NATS: text, bytes, ends and resets, whatever their size',
    'cluster.links/sealed':
      'Who is in the NATS account without the vault’s key reads nothing of a link; what is put in, played back or left out ends it',
    'cluster.links/dialling': 'Who has not the vault’s key gets no link, also not by what others have said when they dialled',
    'cluster.links/ends': 'A link ends with its connection to NATS, and where the other bridge falls silent',
    'cluster.links/slow': 'A reader that takes nothing costs its streams’ credit at the most, and holds no other stream up',
    'cluster.routes/anywhere':
      'Any bridge takes any client and request to the host that serves, wherever that is attached, with who they are and what they may',
    'cluster.routes/streamed': 'Answers come piece by piece from another bridge’s host too',
    'cluster.routes/own-first': 'A host of a bridge’s own is preferred, and nothing goes round between bridges',
    'cluster.routes/moves':
      'Clients are handed on from one bridge’s host to the next one’s; where a host dies they hear that they may try again',
    'cluster.routes/yields': 'A bridge that serves no longer hands its own clients on too',
    'cluster.routes/admits': 'Paired devices and keys are let in, and cut off, by every bridge',
    'cluster.serving/one': 'One bridge’s managed Chromium serves the vault, and every bridge answers by it',
    'cluster.serving/host-lost':
      'Where that host dies another bridge’s serves within seconds, and clients get an error that may be tried again',
    'cluster.serving/bridge-lost': 'So it is where its bridge dies',
    'cluster.serving/partition': 'So it is where its bridge is cut off, which goes on for itself until it is back',
    'cluster.serving/apart': 'While the cluster is away each bridge goes on for itself',
    'cluster.serving/acknowledged':
      'What was acknowledged by one bridge is there, once, whichever of them dies or is started anew; no job runs twice',
    'cluster.serving/vaults':
      'Bridges that serve several vaults share each of them by its own settings: its host may be at any of them, and none runs more browsers than it may',
    'cluster.serving/leaves': 'A bridge that is told to stop serves until another one does',
  }),
];
