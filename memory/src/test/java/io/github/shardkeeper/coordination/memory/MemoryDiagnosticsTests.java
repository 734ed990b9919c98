package io.github.shardkeeper.coordination.memory;

import io.github.shardkeeper.coordination.store.GroupDiagnostics;
import io.github.shardkeeper.coordination.store.GroupDiagnosticsContract;

class MemoryDiagnosticsTests extends GroupDiagnosticsContract {

	@Override
	protected GroupDiagnostics createNotes() {
		return new MemoryCoordinationStore().diagnostics();
	}

}
