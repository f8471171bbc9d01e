/** The account: what a client reads first, to learn where it may read and write. */
import type { CosmosAnswer, CosmosContext } from "../context.ts";
import { answer } from "../context.ts";

const location = "Pinakes";

export function readAccount({ endpoint, caller }: CosmosContext): CosmosAnswer {
  const here = [{ name: location, databaseAccountEndpoint: `${endpoint()}/` }];
  return answer(200, {
    _self: "",
    id: caller.scope.tenant === "localhost" ? "pinakes" : caller.scope.tenant,
    _rid: `${caller.scope.tenant}.pinakes`,
    media: "//media/",
    addresses: "//addresses/",
    _dbs: "//dbs/",
    writableLocations: here,
    readableLocations: here,
    enableMultipleWriteLocations: false,
    continuousBackupEnabled: false,
    enableNRegionSynchronousCommit: false,
    userReplicationPolicy: { asyncReplication: false, minReplicaSetSize: 1, maxReplicasetSize: 1 },
    userConsistencyPolicy: { defaultConsistencyLevel: "Session" },
    systemReplicationPolicy: { minReplicaSetSize: 1, maxReplicasetSize: 1 },
    readPolicy: { primaryReadCoefficient: 1, secondaryReadCoefficient: 1 },
    queryEngineConfiguration: JSON.stringify({
      maxSqlQueryInputLength: 65_536,
      maxJoinsPerSqlQuery: 5,
      maxLogicalAndPerSqlQuery: 500,
      maxLogicalOrPerSqlQuery: 500,
      maxUdfRefPerSqlQuery: 0,
      maxInExpressionItemsCount: 1_000,
      queryMaxGroupByTableCellCount: 500_000,
      queryMaxInMemorySortDocumentCount: 50_000,
      maxQueryRequestTimeoutFraction: 0.9,
      sqlAllowNonFiniteNumbers: false,
      sqlAllowAggregateFunctions: true,
      sqlAllowSubQuery: true,
      sqlAllowScalarSubQuery: false,
      allowNewKeywords: true,
      sqlAllowLike: true,
      sqlAllowGroupByClause: true,
      sqlDisableOptimizationFlags: 0,
      spatialMaxGeometryPointCount: 0,
      enableSpatialIndexing: false,
    }),
  });
}
