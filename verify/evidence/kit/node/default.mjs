// The reporter that node itself would have taken: NODE_OPTIONS, by which relay adds its own, takes it away.
import { spec, tap } from 'node:test/reporters'

export default process.stdout.isTTY || Number(process.versions.node.split('.')[0]) >= 23 ? spec : tap
